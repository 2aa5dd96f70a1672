#include "docker_api/engine_session.hpp"

#include "async/with_deadline.hpp"
#include "docker_api/parse_answers.hpp"
#include "docker_api/version_negotiation.hpp"

namespace mayfly::docker {

namespace {

constexpr const char* kPeer = "the engine";

bool is_success(unsigned status) {
  return (status >= 200 && status < 300) || status == 304;
}

const EngineCall& version_call() {
  static const EngineCall kCall{.endpoint = "version", .method = "GET", .path = "/version"};
  return kCall;
}

}  // namespace

EngineSession::Account EngineSession::open_account(const EngineCall& call) {
  // Without the query, which may be long and tells a reader little.
  return {call.endpoint, std::string(call.method) + " " + call.path.substr(0, call.path.find('?'))};
}

template <class T>
Result<T> EngineSession::settle(const Account& account, Result<T> result) {
  if (!result) {
    result.error().message.insert(0, account.what + ": ");
    if (result.error().code == ErrorCode::engine_unreachable) pool_.forget_engine();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - account.begun;
  if (observer_) observer_(account.endpoint, result ? "ok" : name_of(result.error().code), took.count());
  return result;
}

Async<VersionInfo> EngineSession::negotiate(Deadline deadline) {
  const Account account = open_account(version_call());
  auto version = co_await with_deadline(negotiate_now(), deadline, kPeer);
  co_return settle(account, std::move(version));
}

Async<VersionInfo> EngineSession::negotiate_now() {
  auto lease = co_await pool_.open();
  if (!lease) co_return fail_with(std::move(lease));
  auto version = co_await agree(*lease->connection);
  if (version) pool_.give_back(std::move(*lease));
  co_return version;
}

Async<VersionInfo> EngineSession::agree(EngineConnection& connection) {
  const std::uint64_t generation = pool_.generation();
  const HttpRequest request{.method = "GET", .target = version_call().path, .body = {}};
  auto answer = co_await connection.exchange(request, kMostAnswer);
  if (!answer) co_return fail_with(std::move(answer));
  if (!is_success(answer->status)) co_return fail_answer(answer->status, answer->body);
  auto version = parse_body(answer->body).and_then(parse_version);
  if (!version) co_return fail_with(std::move(version));
  auto agreed = negotiate_version(*version);
  if (!agreed) co_return fail_with(std::move(agreed));
  agreed_version_ = std::move(*agreed);
  agreed_generation_ = generation;
  co_return version;
}

Async<> EngineSession::agree_again(EngineConnection& connection) {
  if (!agreed_version_.empty() && agreed_generation_ == pool_.generation()) co_return Result<>();
  auto version = co_await agree(connection);
  if (!version) co_return fail_with(std::move(version));
  co_return Result<>();
}

Async<HttpAnswer> EngineSession::call(Result<EngineCall> call, Deadline deadline) {
  if (!call) co_return fail_with(std::move(call));
  const Account account = open_account(*call);
  auto answer = co_await with_deadline(perform(std::move(*call)), deadline, kPeer);
  if (answer && !is_success(answer->status)) answer = fail_answer(answer->status, answer->body);
  co_return settle(account, std::move(answer));
}

// Only a GET is sent a second time, and only when a kept connection broke before any byte of an answer: the
// engine has closed it at that moment. Anything else may have been carried out.
Async<HttpAnswer> EngineSession::perform(EngineCall call) {
  HttpRequest request{
      .method = call.method, .target = {}, .body = std::move(call.body), .content_type = call.content_type};
  auto lease = co_await pool_.acquire();
  for (;;) {
    if (!lease) co_return fail_with(std::move(lease));
    if (auto agreed = co_await agree_again(*lease->connection); !agreed)
      co_return fail_with(std::move(agreed));
    request.target = versioned(call.path);
    auto answer = co_await lease->connection->exchange(request, call.most_answer);
    const bool broke = !answer && answer.error().code == ErrorCode::engine_unreachable;
    const bool again = broke && lease->reused && lease->connection->got_nothing() && request.method == "GET";
    if (answer) pool_.give_back(std::move(*lease));
    if (!again) co_return answer;
    pool_.forget_engine();
    lease = co_await pool_.open();
  }
}

Async<EngineSession::Hijacked> EngineSession::hijack(Result<EngineCall> call, Deadline deadline) {
  if (!call) co_return fail_with(std::move(call));
  const Account account = open_account(*call);
  auto hijacked = co_await with_deadline(perform_hijack(std::move(*call)), deadline, kPeer);
  co_return settle(account, std::move(hijacked));
}

Async<EngineSession::Hijacked> EngineSession::perform_hijack(EngineCall call) {
  auto lease = co_await pool_.open();
  if (!lease) co_return fail_with(std::move(lease));
  EngineConnection& connection = *lease->connection;
  if (auto agreed = co_await agree_again(connection); !agreed) co_return fail_with(std::move(agreed));
  const HttpRequest request{.method = call.method, .target = versioned(call.path), .body = {}};
  auto upgraded = co_await connection.upgrade(request);
  if (!upgraded) co_return fail_with(std::move(upgraded));
  if (upgraded->answer.status != 101) co_return fail_answer(upgraded->answer.status, upgraded->answer.body);
  co_return Hijacked{connection.take_socket(), std::move(upgraded->head)};
}

}  // namespace mayfly::docker
