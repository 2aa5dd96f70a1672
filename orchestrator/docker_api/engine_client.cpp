#include "docker_api/engine_client.hpp"

#include "async/with_deadline.hpp"
#include "docker_api/attach_stream.hpp"
#include "docker_api/engine_session.hpp"
#include "docker_api/parse_answers.hpp"
#include "docker_api/request_target.hpp"

namespace mayfly::docker {

namespace {

constexpr Millis kFirstPoll{10};
constexpr Millis kLongestPoll{500};
constexpr std::string_view kTar = "application/x-tar";

Result<EngineCall> on_object(std::string_view endpoint, std::string_view method, std::string_view folder,
                             std::string_view name, std::string_view action) {
  if (auto known = check_object_name(name); !known) return fail_with(std::move(known));
  return EngineCall{.endpoint = endpoint,
                    .method = method,
                    .path = std::string(folder) + percent_encode(name) + std::string(action)};
}

Result<EngineCall> on_container(std::string_view endpoint, std::string_view method, std::string_view name,
                                std::string_view action, std::initializer_list<QueryPart> query = {}) {
  auto call = on_object(endpoint, method, "/containers/", name, action);
  if (call) call->path = with_query(std::move(call->path), query);
  return call;
}

Result<EngineCall> on_volume(std::string_view endpoint, std::string_view method, std::string_view name) {
  return on_object(endpoint, method, "/volumes/", name, "");
}

Result<EngineCall> with_json(Result<EngineCall> call, const Json& body) {
  if (call) call->body = dump_json(body);
  return call;
}

// What is to go is gone either way: 204 now, 404 before.
Result<RemoveOutcome> removal_of(const Result<HttpAnswer>& answer) {
  if (answer) return RemoveOutcome::removed;
  if (answer.error().code == ErrorCode::not_found) return RemoveOutcome::already_gone;
  return fail_with(answer);
}

Async<> without_answer(Async<HttpAnswer> pending) {
  auto answer = co_await std::move(pending);
  if (!answer) co_return fail_with(std::move(answer));
  co_return Result<>();
}

class DockerEngineClient final : public EngineClient {
 public:
  DockerEngineClient(asio::any_io_executor executor, EngineAddress address, CallObserver observer)
      : session_(std::move(executor), std::move(address), std::move(observer)) {}

  Async<VersionInfo> negotiate(Deadline deadline) override { return session_.negotiate(deadline); }
  std::string agreed_version() const override { return session_.agreed_version(); }
  Async<> ping(Deadline deadline) override;
  Async<SystemInfo> info(Deadline deadline) override;
  Async<ImageInspect> inspect_image(std::string reference, Deadline deadline) override;

  Async<Created> create_container(std::string name, ContainerConfig config, Deadline deadline) override;
  Async<ContainerInspect> inspect_container(std::string name, Deadline deadline) override;
  Async<std::unique_ptr<AttachStream>> attach(std::string name, Deadline deadline) override;
  Async<> start_container(std::string name, Deadline deadline) override;
  Async<int> wait_container(std::string name, Deadline deadline) override;
  Async<> kill_container(std::string name, std::string signal, Deadline deadline) override;
  Async<std::vector<std::string>> update_container(std::string name, UpdateConfig config,
                                                   Deadline deadline) override;
  Async<RemoveOutcome> remove_container(std::string name, Deadline deadline) override;
  Async<std::vector<ContainerSummary>> list_containers(std::string label, Deadline deadline) override;

  Async<VolumeInfo> create_volume(VolumeConfig config, Deadline deadline) override;
  Async<VolumeInfo> inspect_volume(std::string name, Deadline deadline) override;
  Async<RemoveOutcome> remove_volume(std::string name, Deadline deadline) override;
  Async<std::vector<VolumeInfo>> list_volumes(std::string label, Deadline deadline) override;

  Async<> put_archive(std::string name, std::string path, std::string tar, Deadline deadline) override;
  Async<std::string> get_archive(std::string name, std::string path, std::size_t limit,
                                 Deadline deadline) override;
  Async<std::string> import_image(std::string repository, std::string tag, std::string tar,
                                  Deadline deadline) override;

 private:
  // The call's answer as JSON, read by `parse`.
  template <class T, class Answer>
  Async<T> ask(Result<EngineCall> call, Result<T> (*parse)(Answer), Deadline deadline);
  Async<RemoveOutcome> wait_until_gone(std::string name, Deadline deadline);

  EngineSession session_;
};

template <class T, class Answer>
Async<T> DockerEngineClient::ask(Result<EngineCall> call, Result<T> (*parse)(Answer), Deadline deadline) {
  auto answer = co_await session_.call(std::move(call), deadline);
  if (!answer) co_return fail_with(std::move(answer));
  auto json = parse_body(answer->body);
  if (!json) co_return fail_with(std::move(json));
  co_return parse(std::move(*json));
}

Async<> DockerEngineClient::ping(Deadline deadline) {
  Result<EngineCall> call = EngineCall{.endpoint = "ping", .method = "GET", .path = "/_ping"};
  return without_answer(session_.call(std::move(call), deadline));
}

Async<SystemInfo> DockerEngineClient::info(Deadline deadline) {
  Result<EngineCall> call = EngineCall{.endpoint = "info", .method = "GET", .path = "/info"};
  return ask(std::move(call), parse_info, deadline);
}

Async<ImageInspect> DockerEngineClient::inspect_image(std::string reference, Deadline deadline) {
  Result<EngineCall> call = EngineCall{.endpoint = "images/inspect", .method = "GET", .path = {}};
  call->path = "/images/" + percent_encode(reference) + "/json";
  if (auto known = check_image_reference(reference); !known) call = fail_with(std::move(known));
  return ask(std::move(call), parse_image, deadline);
}

Async<Created> DockerEngineClient::create_container(std::string name, ContainerConfig config,
                                                    Deadline deadline) {
  Result<EngineCall> call = EngineCall{.endpoint = "containers/create", .method = "POST", .path = {}};
  call->path = with_query("/containers/create", {{"name", name}});
  call->body = dump_json(to_json(config));
  if (auto known = check_object_name(name); !known) call = fail_with(std::move(known));
  return ask(std::move(call), parse_created, deadline);
}

Async<ContainerInspect> DockerEngineClient::inspect_container(std::string name, Deadline deadline) {
  return ask(on_container("containers/inspect", "GET", name, "/json"), parse_container, deadline);
}

Async<std::unique_ptr<AttachStream>> DockerEngineClient::attach(std::string name, Deadline deadline) {
  auto call = on_container("containers/attach", "POST", name, "/attach",
                           {{"stream", "1"}, {"stdin", "1"}, {"stdout", "1"}, {"stderr", "1"}});
  auto hijacked = co_await session_.hijack(std::move(call), deadline);
  if (!hijacked) co_return fail_with(std::move(hijacked));
  co_return make_attach_stream(std::move(hijacked->socket), std::move(hijacked->head));
}

Async<> DockerEngineClient::start_container(std::string name, Deadline deadline) {
  return without_answer(session_.call(on_container("containers/start", "POST", name, "/start"), deadline));
}

Async<int> DockerEngineClient::wait_container(std::string name, Deadline deadline) {
  auto call = on_container("containers/wait", "POST", name, "/wait", {{"condition", "not-running"}});
  return ask(std::move(call), parse_wait, deadline);
}

Async<> DockerEngineClient::kill_container(std::string name, std::string signal, Deadline deadline) {
  auto call = on_container("containers/kill", "POST", name, "/kill", {{"signal", signal}});
  auto answer = co_await session_.call(std::move(call), deadline);
  const bool not_running = !answer && answer.error().code == ErrorCode::conflict;
  if (!answer && !not_running) co_return fail_with(std::move(answer));
  co_return Result<>();
}

Async<std::vector<std::string>> DockerEngineClient::update_container(std::string name, UpdateConfig config,
                                                                     Deadline deadline) {
  auto call = with_json(on_container("containers/update", "POST", name, "/update"), to_json(config));
  return ask(std::move(call), parse_update, deadline);
}

Async<RemoveOutcome> DockerEngineClient::remove_container(std::string name, Deadline deadline) {
  auto call = on_container("containers/remove", "DELETE", name, "", {{"force", "1"}, {"v", "1"}});
  const auto answer = co_await session_.call(std::move(call), deadline);
  // 409: its removal is in progress, asked for by somebody else or by an earlier call of ours that was given
  // up.
  const bool in_progress = !answer && answer.error().code == ErrorCode::conflict;
  if (!in_progress) co_return removal_of(answer);
  co_return co_await wait_until_gone(std::move(name), deadline);
}

Async<RemoveOutcome> DockerEngineClient::wait_until_gone(std::string name, Deadline deadline) {
  for (Millis pause = kFirstPoll;; pause = std::min(pause * 2, kLongestPoll)) {
    const auto found = co_await inspect_container(name, deadline);
    if (!found && found.error().code == ErrorCode::not_found) co_return RemoveOutcome::removed;
    if (!found) co_return fail_with(found);
    co_await sleep_until(deadline.within(pause));
  }
}

Async<std::vector<ContainerSummary>> DockerEngineClient::list_containers(std::string label,
                                                                         Deadline deadline) {
  Result<EngineCall> call = EngineCall{.endpoint = "containers/list", .method = "GET", .path = {}};
  call->path = with_query("/containers/json", {{"all", "1"}, {"filters", label_filter(label)}});
  return ask(std::move(call), parse_container_list, deadline);
}

Async<VolumeInfo> DockerEngineClient::create_volume(VolumeConfig config, Deadline deadline) {
  Result<EngineCall> call =
      EngineCall{.endpoint = "volumes/create", .method = "POST", .path = "/volumes/create"};
  if (auto known = check_object_name(config.name); !known) call = fail_with(std::move(known));
  return ask(with_json(std::move(call), to_json(config)), parse_volume, deadline);
}

Async<VolumeInfo> DockerEngineClient::inspect_volume(std::string name, Deadline deadline) {
  return ask(on_volume("volumes/inspect", "GET", name), parse_volume, deadline);
}

Async<RemoveOutcome> DockerEngineClient::remove_volume(std::string name, Deadline deadline) {
  auto answer = co_await session_.call(on_volume("volumes/remove", "DELETE", name), deadline);
  co_return removal_of(answer);
}

Async<std::vector<VolumeInfo>> DockerEngineClient::list_volumes(std::string label, Deadline deadline) {
  Result<EngineCall> call = EngineCall{.endpoint = "volumes/list", .method = "GET", .path = {}};
  call->path = with_query("/volumes", {{"filters", label_filter(label)}});
  return ask(std::move(call), parse_volume_list, deadline);
}

Async<> DockerEngineClient::put_archive(std::string name, std::string path, std::string tar,
                                        Deadline deadline) {
  auto call = on_container("containers/archive", "PUT", name, "/archive", {{"path", path}});
  if (call) {
    call->body = std::move(tar);
    call->content_type = kTar;
  }
  return without_answer(session_.call(std::move(call), deadline));
}

Async<std::string> DockerEngineClient::get_archive(std::string name, std::string path, std::size_t limit,
                                                   Deadline deadline) {
  auto call = on_container("containers/archive", "GET", name, "/archive", {{"path", path}});
  if (call) call->most_answer = limit;
  auto answer = co_await session_.call(std::move(call), deadline);
  if (!answer) co_return fail_with(std::move(answer));
  co_return std::move(answer->body);
}

Async<std::string> DockerEngineClient::import_image(std::string repository, std::string tag, std::string tar,
                                                    Deadline deadline) {
  Result<EngineCall> call = EngineCall{.endpoint = "images/import", .method = "POST", .path = {}};
  call->path = with_query("/images/create", {{"fromSrc", "-"}, {"repo", repository}, {"tag", tag}});
  call->body = std::move(tar);
  call->content_type = kTar;
  auto answer = co_await session_.call(std::move(call), deadline);
  if (!answer) co_return fail_with(std::move(answer));
  co_return parse_import(answer->body);
}

}  // namespace

std::unique_ptr<EngineClient> make_engine_client(asio::any_io_executor executor, EngineAddress address,
                                                 CallObserver observer) {
  return std::make_unique<DockerEngineClient>(std::move(executor), std::move(address), std::move(observer));
}

}  // namespace mayfly::docker
