#include "policy/yaml.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <optional>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "policy/yaml_scalar.hpp"
#include "policy/yaml_text.hpp"
#include "task/spec_fields.hpp"

namespace mayfly {
namespace {

constexpr std::size_t kShownBytes = 60;  // of a key or path in a message

// Leaves yaml-cpp's parser from within an event: it knows no other way to stop. Caught in parse_yaml.
class Refusal : public std::runtime_error {
 public:
  Refusal(const YAML::Mark& mark, std::string code, const std::string& detail)
      : std::runtime_error(detail), mark_(mark), code_(std::move(code)) {}
  const YAML::Mark& mark() const { return mark_; }
  const std::string& code() const { return code_; }

 private:
  YAML::Mark mark_;
  std::string code_;
};

// A map or list whose end has not come yet.
struct OpenCollection {
  Json value;
  std::size_t pointer_length;  // of the collection itself
  bool in_flow;
  std::optional<std::string> key;  // of a map: read, and its value still to come
  YAML::Mark key_mark;
};

// Builds the document from events, one value at a time and without recursion. A limit is checked before what
// it limits is kept.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(const YamlText& text, const std::string& file_name) : text_(text), file_name_(file_name) {}

  YamlDocument take() && {
    document_.places.emplace("", SourcePlace{file_name_, 1, 1});  // of a file with nothing in it
    return std::move(document_);
  }
  // Of the value that is being read, for messages.
  std::string pointer() const { return !open_.empty() && open_.back().key ? next_pointer() : pointer_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (seen_document_)
      throw Refusal(mark, "second_document", "a second document begins here; a file holds one");
    seen_document_ = true;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check_node(mark, "?", anchor);
    if (is_key_due()) throw Refusal(mark, "bad_key", "a key must be text; put it in quotes");
    const std::string_view spelling = text_.null_spelling(offset_of(mark));
    add_scalar(mark, Json(nullptr), std::string(spelling));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw Refusal(mark, "forbidden_alias", "aliases (*name) are not taken; write the value out");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_node(mark, tag, anchor);
    const bool plain = tag == "?";
    check_quote(mark);
    if (is_key_due()) return add_key(mark, plain, value);
    Json typed = plain ? type_plain_scalar(value) : Json(value);
    const bool is_text = typed.is_string();
    add_scalar(mark, std::move(typed), is_text ? std::string() : value);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    open(mark, tag, anchor, style, Json::array());
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    open(mark, tag, anchor, style, Json::object());
  }
  void OnMapEnd() override { close(); }

 private:
  static std::size_t offset_of(const YAML::Mark& mark) { return static_cast<std::size_t>(mark.pos); }

  bool is_key_due() const { return !open_.empty() && open_.back().value.is_object() && !open_.back().key; }

  void check_node(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (++nodes_ > yaml_limits::kNodes)
      throw Refusal(mark, "too_large",
                    "the file holds more than " + std::to_string(yaml_limits::kNodes) + " values");
    if (anchor != YAML::NullAnchor)
      throw Refusal(mark, "forbidden_anchor",
                    "anchors (&name) are not taken; write the value out where it is needed");
    if ((tag != "?" && tag != "!") || text_.at(offset_of(mark)) == '!')
      throw Refusal(mark, "forbidden_tag",
                    "tags (!name) are not taken; a value's type follows from its field");
    // Within brackets white space is free: JSON that is indented by tabs is fine.
    const bool in_flow = !open_.empty() && open_.back().in_flow;
    if (!in_flow && text_.is_indented_by_tab(offset_of(mark)))
      throw Refusal(mark, "tab_indentation", "a tab indents this line; YAML indents by spaces only");
  }

  void check_quote(const YAML::Mark& mark) {
    const char first = text_.at(offset_of(mark));
    if ((first == '"' || first == '\'') && !text_.is_quote_closed(offset_of(mark)))
      throw Refusal(mark, "syntax", "a quote is opened here and never closed");
  }

  void add_key(const YAML::Mark& mark, bool plain, const std::string& key) {
    const std::string shown = shorten_text(key, kShownBytes);
    if (plain && key == "<<")
      throw Refusal(mark, "forbidden_merge_key", "merge keys (<<) are not taken; write the keys out");
    if (key.size() > yaml_limits::kKeyBytes)
      throw Refusal(mark, "bad_key", "the key \"" + shown + "\" is longer than 1024 bytes");
    OpenCollection& map = open_.back();
    if (map.value.contains(key)) {
      const auto first = document_.places.find(child_pointer(key));
      const int line = first == document_.places.end() ? 0 : first->second.line;
      throw Refusal(mark, "duplicate_key",
                    "the key \"" + shown + "\" stands here twice, first in line " + std::to_string(line));
    }
    map.key = key;
    map.key_mark = mark;
  }

  std::string child_pointer(const std::string& key) const { return pointer_to(pointer_, key); }

  // The pointer of the value that begins now.
  std::string next_pointer() const {
    if (open_.empty()) return "";
    const OpenCollection& parent = open_.back();
    return parent.key ? child_pointer(*parent.key) : child_pointer(std::to_string(parent.value.size()));
  }

  void record_place(const YAML::Mark& mark, const std::string& pointer) {
    pointer_bytes_ += pointer.size();
    if (pointer_bytes_ > yaml_limits::kPointerBytes)
      throw Refusal(mark, "too_large", "the file holds too many values under too long keys");
    document_.places.emplace(pointer, SourcePlace{file_name_, mark.line + 1, mark.column + 1});
  }

  void add_scalar(const YAML::Mark& mark, Json value, std::string spelling) {
    const std::string pointer = next_pointer();
    record_place(mark, pointer);
    if (!spelling.empty()) document_.spellings.emplace(pointer, std::move(spelling));
    add_value(std::move(value));
  }

  void add_value(Json value) {
    if (open_.empty()) {
      document_.value = std::move(value);
      return;
    }
    OpenCollection& parent = open_.back();
    if (!parent.key) {
      parent.value.push_back(std::move(value));
      return;
    }
    parent.value[*parent.key] = std::move(value);
    parent.key.reset();
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YAML::EmitterStyle::value style, Json empty) {
    check_node(mark, tag, anchor);
    if (is_key_due())
      throw Refusal(
          mark, "bad_key",
          "a key must be text, not a list or a map; or a bracket that is opened here is never closed");
    if (open_.size() >= yaml_limits::kDepth)
      throw Refusal(mark, "too_deep",
                    "maps and lists are nested more than " + std::to_string(yaml_limits::kDepth) + " deep");
    std::string pointer = next_pointer();
    const bool in_map = !open_.empty() && open_.back().key;
    record_place(in_map ? open_.back().key_mark : mark, pointer);
    open_.push_back(
        {std::move(empty), pointer.size(), style == YAML::EmitterStyle::Flow, std::nullopt, mark});
    pointer_ = std::move(pointer);
  }

  void close() {
    Json value = std::move(open_.back().value);
    open_.pop_back();
    pointer_.resize(open_.empty() ? 0 : open_.back().pointer_length);
    add_value(std::move(value));
  }

  const YamlText& text_;
  const std::string& file_name_;
  YamlDocument document_;
  std::vector<OpenCollection> open_;
  std::string pointer_;  // of the innermost open collection
  std::size_t nodes_ = 0;
  std::size_t pointer_bytes_ = 0;
  bool seen_document_ = false;
};

tl::unexpected<Error> refuse(const SourcePlace& place, std::string code, std::string detail,
                             std::string_view pointer) {
  const std::string where = to_string(place);
  if (!pointer.empty()) detail += " (in " + shorten_text(key_path(pointer), kShownBytes) + ")";
  return fail(ErrorCode::invalid_argument, where + ": " + detail,
              {FieldFault{where, std::move(code), detail}});
}

SourcePlace place_of_mark(const YAML::Mark& mark, const std::string& file_name) {
  return {file_name, mark.line + 1, mark.column + 1};
}

bool is_index(std::string_view part) {
  return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string unescape_pointer_part(std::string_view part) {
  std::string out;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const bool escape = part[i] == '~' && i + 1 < part.size();
    out.push_back(!escape ? part[i] : part[i + 1] == '1' ? '/' : '~');
    if (escape) ++i;
  }
  return out;
}

}  // namespace

Result<YamlDocument> parse_yaml(std::string_view text, const std::string& file_name) {
  const auto clean = YamlText::make(text, file_name);
  if (!clean) return fail_with(clean);
  TreeBuilder builder(*clean, file_name);
  try {
    std::istringstream stream(clean->str());
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refusal& refusal) {
    return refuse(place_of_mark(refusal.mark(), file_name), refusal.code(), refusal.what(),
                  builder.pointer());
  } catch (const YAML::Exception& error) {
    if (clean->has_tab_indentation(error.mark.line + 1))
      return refuse(place_of_mark(error.mark, file_name), "tab_indentation",
                    "a tab indents this line; YAML indents by spaces only", builder.pointer());
    return refuse(place_of_mark(error.mark, file_name), "syntax", "no valid YAML: " + error.msg,
                  builder.pointer());
  }
  return std::move(builder).take();
}

void keep_as_written(YamlDocument& document, const std::string& pointer) {
  const Json::json_pointer target(pointer);
  if (!document.value.contains(target)) return;
  Json& parent = document.value[target];
  if (!parent.is_structured()) return;
  for (auto item = parent.begin(); item != parent.end(); ++item) {
    const std::string name = parent.is_object() ? item.key() : std::to_string(item - parent.begin());
    const auto spelling = document.spellings.find(pointer_to(pointer, name));
    if (spelling != document.spellings.end()) *item = spelling->second;
  }
}

std::string key_path(std::string_view pointer) {
  std::string path;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::string_view part = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(part.size());
    if (is_index(part)) {
      path += "[" + std::string(part) + "]";
    } else {
      path += (path.empty() ? "" : ".") + unescape_pointer_part(part);
    }
  }
  return path;
}

SourcePlace place_of(const YamlDocument& document, std::string_view pointer) {
  while (true) {
    const auto found = document.places.find(std::string(pointer));
    if (found != document.places.end()) return found->second;
    if (pointer.empty()) return {};
    pointer = pointer.substr(0, pointer.rfind('/'));
  }
}

}  // namespace mayfly
