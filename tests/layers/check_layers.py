#!/usr/bin/env python3
"""Refuses what goes against the one-way order of the layers: an #include, a link in a CMakeLists.txt, a source that no list names.

usage: check_layers.py PROJECT_ROOT     (or --self-test: shows that it would notice)

The order:  base <- task <- channel;  base <- async;  then policy, store, log_store, docker_api;  then runtime, workspace;  then
lifecycle;  then app, http;  then cli;  then main. The runner in the sandbox links base, task and channel alone.
"""

import pathlib
import re
import sys

# A folder of sources, and the folders whose headers it may include beside its own. Strict: what a folder does not need it does
# not see, even where the order would allow it.
MAY_INCLUDE = {
    "orchestrator/base": [],
    "orchestrator/async": ["base"],
    "orchestrator/task": ["base"],
    "orchestrator/channel": ["base", "task"],
    "runtime-image/runner": ["base", "task", "channel"],
    "orchestrator/policy": ["base", "task"],
    "orchestrator/store": ["base", "task", "async"],
    "orchestrator/log_store": ["base", "task", "async"],
    "orchestrator/docker_api": ["base", "async"],
    "orchestrator/runtime": ["base", "task", "async"],
    "orchestrator/runtime/docker": ["base", "task", "async", "docker_api", "runtime"],
    "workspace": ["base", "task", "async"],
    "orchestrator/lifecycle": ["base", "task", "channel", "async", "policy", "store", "log_store", "runtime", "workspace"],
    "orchestrator/app": ["base", "task", "async", "policy", "store", "log_store", "docker_api", "runtime", "runtime/docker",
                         "workspace", "lifecycle"],
    "orchestrator/http": ["base", "task", "async", "policy", "store", "log_store", "workspace", "lifecycle"],
    "orchestrator/cli": ["base", "task", "async", "policy", "lifecycle", "app", "http"],
    "orchestrator": ["cli"],
}
# The target of each folder, and what it may link to: only targets of folders whose headers it may include, and these.
TARGETS = {folder: "mayfly_" + pathlib.PurePath(folder).name for folder in MAY_INCLUDE if folder not in
           ("orchestrator", "orchestrator/runtime/docker", "runtime-image/runner")}
TARGETS["runtime-image/runner"] = "mayfly_runner_core"
ALWAYS_LINKED = {"mayfly_base_host", "mayfly_asio", "mayfly_options", "mayfly_sanitize"}
# Slow to compile, and of no interest to anybody else: Beast stays in the .cpp files of these.
BEAST_FOLDERS = ("orchestrator/docker_api/", "orchestrator/http/", "orchestrator/async/")
FOLDER_OF_INCLUDE = sorted((folder.removeprefix("orchestrator/"), folder) for folder in MAY_INCLUDE if folder != "orchestrator")


def folder_of(path):
    """The most specific folder of MAY_INCLUDE that a source belongs to; folders below it belong to it."""
    return max((folder for folder in MAY_INCLUDE if path.startswith(folder + "/")), key=len, default=None)


def folder_of_include(include):
    return max((short for short, _ in FOLDER_OF_INCLUDE if include.startswith(short + "/")), key=len, default=None)


def include_faults(path, text):
    folder = folder_of(path)
    if folder is None:
        return [f"{path}: in no folder that the order knows"]
    own = folder.removeprefix("orchestrator/")
    faults = []
    for number, line in enumerate(text.splitlines(), 1):
        if beast := re.match(r'\s*#\s*include\s*[<"]boost/beast', line):
            if not (path.startswith(BEAST_FOLDERS) and path.endswith(".cpp")):
                faults.append(f"{path}:{number}: Beast outside the .cpp files of docker_api and http")
            continue
        quoted = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
        if beast or not quoted or "/" not in quoted[1]:
            continue  # a system header, or one of its own folder
        target = folder_of_include(quoted[1])
        if target is None:
            faults.append(f"{path}:{number}: {quoted[1]} is in no folder that the order knows")
        elif target != own and target not in MAY_INCLUDE[folder]:
            faults.append(f"{path}:{number}: {own} may not include {quoted[1]}")
    return faults


def linked_targets(cmake_text, target):
    """Our own targets that a mayfly_library(TARGET …) names, without comments."""
    text = re.sub(r"#.*", "", cmake_text)
    call = re.search(r"mayfly_(?:pure_)?library\(\s*" + target + r"\b([^)]*)\)", text)
    return None if call is None else re.findall(r"\bmayfly_\w+", call[1])


def link_faults(folder, cmake_text):
    target = TARGETS[folder]
    linked = linked_targets(cmake_text, target)
    if linked is None:
        return [f"{folder}/CMakeLists.txt: no mayfly_library({target} …)"]
    allowed = {TARGETS[known] for known in TARGETS if known.removeprefix("orchestrator/") in MAY_INCLUDE[folder]} | ALWAYS_LINKED
    # runtime/docker is built into runtime's target, so what it may include that may link.
    if folder == "orchestrator/runtime":
        allowed |= {"mayfly_docker_api"}
    return [f"{folder}/CMakeLists.txt: {target} may not link to {name}" for name in linked if name not in allowed]


def unlisted_sources(folder, files, cmake_text):
    text = re.sub(r"#.*", "", cmake_text)
    listed = set(re.findall(r"[\w./-]+\.cpp", text))
    return [f"{folder}/CMakeLists.txt: {name} is in no list" for name in files if name not in listed]


def check(root):
    faults = []
    for top in ("orchestrator", "workspace", "runtime-image"):
        for path in sorted((root / top).rglob("*.[ch]pp")):
            faults += include_faults(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
    for folder in TARGETS:
        cmake_text = (root / folder / "CMakeLists.txt").read_text(encoding="utf-8")
        sources = [path.relative_to(root / folder).as_posix() for path in sorted((root / folder).rglob("*.cpp"))]
        faults += link_faults(folder, cmake_text) + unlisted_sources(folder, sources, cmake_text)
    return faults


def self_test():
    noticed = [
        include_faults("orchestrator/base/a.cpp", '#include "task/task_spec.hpp"'),
        include_faults("orchestrator/docker_api/a.hpp", '\n#include "task/limits.hpp"'),
        include_faults("orchestrator/lifecycle/a.cpp", '#include "runtime/docker/docker_runtime.hpp"'),
        include_faults("orchestrator/runtime/runtime.hpp", '#include "docker_api/engine_client.hpp"'),
        include_faults("runtime-image/runner/a.cpp", '# include "async/scope.hpp"'),
        include_faults("orchestrator/http/handlers/a.cpp", '#include "cli/console.hpp"'),
        include_faults("orchestrator/cli/a.cpp", "#include <boost/beast/http.hpp>"),
        include_faults("orchestrator/http/a.hpp", "#include <boost/beast/http.hpp>"),
        include_faults("orchestrator/gateway/a.cpp", '#include "gateway/a.hpp"'),
        link_faults("orchestrator/task", "mayfly_pure_library(mayfly_task SOURCES a.cpp DEPS mayfly_base mayfly_channel)"),
        link_faults("orchestrator/store", "# mayfly_library(mayfly_store)"),
        unlisted_sources("workspace", ["a.cpp", "b.cpp"], "SOURCES a.cpp # b.cpp"),
    ]
    allowed = [
        include_faults("orchestrator/http/handlers/a.cpp", '#include "lifecycle/task_service.hpp"\n#include "http/api.hpp"'),
        include_faults("orchestrator/runtime/docker/a.cpp", '#include "runtime/runtime.hpp"\n#include <boost/asio.hpp>'),
        include_faults("runtime-image/runner/a.cpp", '#include "a.hpp"\n#include "channel/link.hpp"'),
        include_faults("orchestrator/http/a.cpp", "#include <boost/beast/http.hpp>"),
        link_faults("orchestrator/runtime", "mayfly_library(mayfly_runtime DEPS mayfly_task mayfly_docker_api)"),
    ]
    assert all(len(faults) == 1 for faults in noticed), noticed
    assert not any(allowed), allowed
    print(f"{len(noticed)} violations noticed, {len(allowed)} right ones let through")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    faults = check(pathlib.Path(sys.argv[1]))
    if faults:
        sys.exit("\n".join(faults))
    print("every include and every link follows the order")


if __name__ == "__main__":
    main()
