#include "cli/api_client.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/file.hpp"

namespace mayfly::cli {
namespace {

constexpr std::size_t kMostBody = 64U << 20U;
constexpr long kConnectSeconds = 10;

struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, ListDeleter>;

struct Transfer {
  ApiResponse response;
  const std::function<bool(std::string_view)>* take = nullptr;
  bool too_large = false;
  bool stopped = false;
};

std::size_t on_body(char* data, std::size_t, std::size_t size, void* context) {
  auto& transfer = *static_cast<Transfer*>(context);
  constexpr long kError = 400;
  if (transfer.take != nullptr && transfer.response.status < kError) {
    transfer.stopped = !(*transfer.take)(std::string_view(data, size));
    return transfer.stopped ? 0 : size;
  }
  transfer.too_large = transfer.response.body.size() + size > kMostBody;
  if (transfer.too_large) return 0;
  transfer.response.body.append(data, size);
  return size;
}

std::size_t on_header(char* data, std::size_t, std::size_t size, void* context) {
  auto& response = static_cast<Transfer*>(context)->response;
  const std::string_view line(data, size);
  if (line.starts_with("HTTP/")) {  // of the final answer, after a 100
    response.headers.clear();
    const std::size_t space = line.find(' ');
    response.status = std::strtol(std::string(line.substr(space + 1, 3)).c_str(), nullptr, 10);
    return size;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size;
  std::string name(line.substr(0, colon));
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  while (!value.empty() && (value.back() == '\r' || value.back() == '\n' || value.back() == ' '))
    value.remove_suffix(1);
  response.headers[name] = std::string(value);
  return size;
}

HeaderList header_list(const ApiRequest& request, const std::string& token) {
  curl_slist* list = curl_slist_append(nullptr, "Expect:");
  if (request.body.empty())
    list = curl_slist_append(list, "Content-Type:");  // curl would call an empty body a form
  for (const std::string& header : request.headers) list = curl_slist_append(list, header.c_str());
  if (!token.empty()) list = curl_slist_append(list, ("Authorization: Bearer " + token).c_str());
  return HeaderList(list);
}

}  // namespace

struct ApiClient::State {
  explicit State(ServerAddress where) : address(std::move(where)), handle(curl_easy_init()) {}
  ~State() { curl_easy_cleanup(handle); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Result<> perform(const ApiRequest& request, Transfer& transfer);

  ServerAddress address;
  CURL* handle;
};

Result<> ApiClient::State::perform(const ApiRequest& request, Transfer& transfer) {
  const std::string url = address.base_url + request.path;
  const HeaderList headers = header_list(request, address.token);
  curl_easy_reset(handle);
  curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  curl_easy_setopt(handle, CURLOPT_PROXY, "");  // never through a proxy of the environment
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http");
  if (!address.socket.empty()) curl_easy_setopt(handle, CURLOPT_UNIX_SOCKET_PATH, address.socket.c_str());
  curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  if (request.method == "HEAD") curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
  if (!request.body.empty() || request.method == "POST") {
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request.body.c_str());
  }
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "mayfly-cli/" MAYFLY_VERSION);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  const CURLcode code = curl_easy_perform(handle);
  if (code == CURLE_OK || transfer.stopped) return {};
  if (transfer.too_large)
    return fail(ErrorCode::payload_too_large, "the answer to " + request.path + " is too large");
  const std::string where = address.socket.empty() ? address.base_url : address.socket.string();
  return fail(ErrorCode::unavailable, "no usable answer from the server at " + where + " (" +
                                          curl_easy_strerror(code) +
                                          "): is `mayfly serve` running there? Name another with --server");
}

ApiClient::ApiClient(ServerAddress address) : state_(std::make_unique<State>(std::move(address))) {}
ApiClient::~ApiClient() = default;

Result<ApiResponse> ApiClient::call(const ApiRequest& request) {
  Transfer transfer;
  auto done = state_->perform(request, transfer);
  if (!done) return fail_with(std::move(done));
  return std::move(transfer.response);
}

Result<Json> ApiClient::json(const ApiRequest& request) {
  auto response = call(request);
  if (!response) return fail_with(std::move(response));
  constexpr long kError = 400;
  if (response->status >= kError) return tl::unexpected<Error>(problem_of(*response));
  return parse_json(response->body, {.bytes = kMostBody, .depth = 64, .values = 10'000'000});
}

Result<> ApiClient::stream(const ApiRequest& request, const std::function<bool(std::string_view)>& take) {
  Transfer transfer;
  transfer.take = &take;
  auto done = state_->perform(request, transfer);
  if (!done) return done;
  constexpr long kError = 400;
  if (transfer.response.status >= kError) return tl::unexpected<Error>(problem_of(transfer.response));
  return {};
}

Result<ServerAddress> parse_server_address(std::string_view text, const std::filesystem::path& token_file) {
  ServerAddress address;
  if (text.starts_with("http://")) {
    address.base_url = std::string(text);
    while (address.base_url.ends_with('/')) address.base_url.pop_back();
    auto token = read_private_file(token_file);
    if (!token) return fail_with(std::move(token));
    address.token = token->substr(0, token->find_first_of("\r\n"));
    return address;
  }
  constexpr std::string_view kScheme = "unix://";
  if (text.starts_with(kScheme)) text.remove_prefix(kScheme.size());
  if (text.empty() || text.find("://") != std::string_view::npos) {
    return fail(ErrorCode::invalid_argument,
                "the server \"" + std::string(text) +
                    "\" is neither a socket's path, unix:///path, nor http://127.0.0.1:port");
  }
  address.socket = std::string(text);
  return address;
}

std::string percent_encode(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.' || c == '~') {
      encoded.push_back(c);
    } else {
      encoded += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
    }
  }
  return encoded;
}

std::string percent_decode(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      decoded.push_back(static_cast<char>(byte));
      i += 2;
    } else {
      decoded.push_back(text[i]);
    }
  }
  return decoded;
}

Error problem_of(const ApiResponse& response) {
  const std::string status = std::to_string(response.status);
  Error error{.code = response.status >= 500 ? ErrorCode::unavailable : ErrorCode::invalid_argument,
              .message = "the server answered " + status};
  if (response.status == 404) error.code = ErrorCode::not_found;
  const auto problem = parse_json(response.body);
  if (!problem || !problem->is_object()) return error;
  const std::string title = problem->value("title", std::string());
  const std::string detail = problem->value("detail", std::string());
  error.message = detail.empty() ? title + " (" + status + ")" : detail;
  for (const Json& fault : problem->value("errors", Json::array())) {
    error.fields.push_back({.pointer = fault.value("pointer", std::string()),
                            .code = fault.value("code", std::string()),
                            .detail = fault.value("detail", std::string())});
  }
  return error;
}

}  // namespace mayfly::cli
