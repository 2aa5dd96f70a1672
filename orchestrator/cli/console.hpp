// How `mayfly` speaks to its caller: data on stdout, words on stderr; tables and colour for people, JSON for
// programs. One thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace mayfly::cli {

enum class Output { table, json };

// json when asked for or when stdout is no terminal.
Output choose_output(bool json_wanted, bool table_wanted);
// No colour without a terminal, with NO_COLOR or TERM=dumb.
bool use_colour();
// The name of a state in its colour, padded by the caller.
std::string colour_state(std::string_view state, std::string_view text);

// Columns as wide as their widest cell; text from outside is escaped.
void print_table(const std::vector<std::string>& heads, const std::vector<std::vector<std::string>>& rows);
void print_json(const Json& value);
// "mayfly: …" and the faulty fields on stderr.
void print_error(const Error& error);
void say(std::string_view text);

}  // namespace mayfly::cli
