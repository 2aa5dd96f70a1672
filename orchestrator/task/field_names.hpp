// Names and text in faults: JSON pointers, the name that was probably meant, long text cut. Pure; any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mayfly {

// RFC 6901: the pointer of a member. A very long key is shown by its beginning.
std::string pointer_to(std::string_view parent, std::string_view key);
// Lower case, without '_' and '-': the same for "cap_add", "CapAdd" and "cap-add".
std::string fold_name(std::string_view name);
// Among `names` the one that `word` is probably a slip of: the same when folded, few letters away, or its
// beginning.
std::optional<std::string_view> find_similar(std::string_view word, std::span<const std::string_view> names);
// For messages: at most `most` bytes and the sign "…", which stands where something was cut, between
// characters.
std::string shorten_text(std::string_view text, std::size_t most);

}  // namespace mayfly
