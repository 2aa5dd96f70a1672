#!/usr/bin/env bash
# Lists each id of a case from the field (F01 …) and of the attack suite (C10 …) with the tests that bear it: an id leads a test's
# name. Fails when one that is promised has no test.
#   scripts/ids.sh             as the sources of the tests say
#   scripts/ids.sh BUILD_DIR   as ctest says of a whole build: a test that is written and not built does not count
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

# What comes later adds its own here.
promised='F01 F02 F04 F05 F07 F08 F10 F11 F13 F14 F26 F28 F32 F34 F35 F38 F40 F41 F46 C10 C11 C12 C19'

# Names of tests, one a line. A name of several literals is known by its first, where the ids are.
names_in_sources() {
  find tests -name '*.cpp' -print0 | xargs -0 cat | tr '\n' ' ' | grep -oE 'TEST_CASE\( *"[^"]+"' | sed 's/^[^"]*"//; s/"$//'
  find tests -name CMakeLists.txt -print0 | xargs -0 cat | tr '\n' ' ' | grep -oE 'add_test\( *NAME "[^"]+"' | sed 's/^[^"]*"//; s/"$//'
  find tests -name '*_test.py' -print0 | xargs -0 cat | names_in_python
}

names_in_python() { sed -nE 's/^ +def test_(\w+)\(.*/\1/p' | tr _ ' '; }

# To ctest a Python file is one test: SUITE.TOPIC of tests/SUITE/TOPIC_test.py.
names_in_build() {
  local names topic aside
  # From aside: ctest empties the log of the directory that it looks at, which may be that of the run that runs this.
  aside=$(mktemp -d)
  printf 'subdirs("%s")\n' "$(realpath "$1")" >"$aside/CTestTestfile.cmake"
  names=$(ctest --test-dir "$aside" --show-only=json-v1 | jq -r '.tests[] | select(.command != null) | .name')
  rm -rf "$aside"
  printf '%s\n' "$names"
  sed -nE 's/^(attack|contract|integration)\./\1\//p' <<<"$names" | while read -r topic; do
    [ ! -f "tests/${topic}_test.py" ] || names_in_python <"tests/${topic}_test.py"
  done
}

if [ "$#" -gt 0 ]; then names=$(names_in_build "$1"); else names=$(names_in_sources); fi

# "ID name" for each id that leads a name: several may.
borne=$(awk '{ for (i = 1; i <= NF && $i ~ /^[A-Z][0-9][0-9]$/; i++) print $i, $0 }' <<<"$names" | sort -u)
awk '{ id = $1; sub(/^[^ ]+ /, ""); print (id == last ? "   " : id) "  " $0; last = id }' <<<"$borne"

missing=()
for id in $promised; do
  grep -q "^$id " <<<"$borne" || missing+=("$id")
done
echo
printf '%d tests bear %d ids\n' "$(cut -d' ' -f2- <<<"$borne" | sort -u | wc -l)" "$(cut -d' ' -f1 <<<"$borne" | sort -u | wc -l)"
[ "${#missing[@]}" -eq 0 ] || die "no test bears ${missing[*]}"
