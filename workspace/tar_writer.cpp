#include "workspace/tar_writer.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include <new>
#include <utility>

namespace mayfly {
namespace {

// libarchive takes names to be in the thread's locale; in "C" each name with a byte over 127 would be marked
// as binary. C.UTF-8 is built into glibc.
class Utf8Locale {
 public:
  Utf8Locale() : utf8_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (utf8_ != nullptr) before_ = uselocale(utf8_);
  }
  ~Utf8Locale() {
    if (utf8_ == nullptr) return;
    uselocale(before_);
    freelocale(utf8_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  locale_t utf8_;
  locale_t before_ = nullptr;
};

struct Output {
  std::string pending;
  bool closed = false;
};

la_ssize_t collect(archive*, void* to, const void* data, std::size_t size) {
  auto* output = static_cast<Output*>(to);
  if (output->closed) return -1;
  output->pending.append(static_cast<const char*>(data), size);
  return static_cast<la_ssize_t>(size);
}

struct EntryDeleter {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

}  // namespace

struct TarWriter::State {
  // free closes an unfinished archive first: what is missing of its entry would be filled up with zeros in
  // memory. (archive_write_fail prevents that too, and leaks in libarchive 3.6.2.)
  ~State() {
    output.closed = true;
    archive_write_free(writer);
  }
  Result<> check(int code) const {
    // A warning: a name that is not UTF-8 was written as its bytes.
    if (code == ARCHIVE_OK || code == ARCHIVE_WARN) return {};
    const char* words = archive_error_string(writer);
    return fail(ErrorCode::internal, std::string("tar: ") + (words == nullptr ? "failed" : words));
  }
  Result<> check_whole() const {
    if (missing == 0) return {};
    return fail(ErrorCode::internal, "tar: " + std::to_string(missing) + " bytes of an entry are missing");
  }

  Output output;
  archive* writer = archive_write_new();
  std::chrono::sys_seconds mtime;
  std::uint64_t missing = 0;  // of the entry in hand
};

TarWriter::TarWriter(std::chrono::sys_seconds mtime) : state_(std::make_unique<State>()) {
  if (state_->writer == nullptr) throw std::bad_alloc();
  state_->mtime = mtime;
  archive_write_set_format_pax_restricted(state_->writer);
  // No blocks of 10 KiB: what is written comes out at once.
  archive_write_set_bytes_per_block(state_->writer, 0);
  archive_write_set_bytes_in_last_block(state_->writer, 1);
  archive_write_open(state_->writer, &state_->output, nullptr, collect, nullptr);
}

TarWriter::~TarWriter() = default;
TarWriter::TarWriter(TarWriter&&) noexcept = default;
TarWriter& TarWriter::operator=(TarWriter&&) noexcept = default;

Result<> TarWriter::begin(const TarEntry& entry) {
  if (auto whole = state_->check_whole(); !whole) return whole;
  const Utf8Locale locale;
  const std::unique_ptr<archive_entry, EntryDeleter> header(archive_entry_new());
  if (!header) throw std::bad_alloc();
  archive_entry_set_pathname(header.get(), entry.path.c_str());
  archive_entry_set_size(header.get(), static_cast<la_int64_t>(entry.size.count));
  archive_entry_set_filetype(header.get(), AE_IFREG);
  archive_entry_set_perm(header.get(), entry.mode & 0777U);
  archive_entry_set_mtime(header.get(), state_->mtime.time_since_epoch().count(), 0);
  if (auto written = state_->check(archive_write_header(state_->writer, header.get())); !written)
    return written;
  state_->missing = entry.size.count;
  return {};
}

Result<> TarWriter::append(std::string_view data) {
  if (data.size() > state_->missing)
    return fail(ErrorCode::internal, "tar: more bytes than the entry's size");
  const la_ssize_t written = archive_write_data(state_->writer, data.data(), data.size());
  if (written != static_cast<la_ssize_t>(data.size())) return state_->check(ARCHIVE_FATAL);
  state_->missing -= data.size();
  return {};
}

Result<> TarWriter::finish() {
  if (auto whole = state_->check_whole(); !whole) return whole;
  return state_->check(archive_write_close(state_->writer));
}

std::string TarWriter::take() {
  return std::exchange(state_->output.pending, {});
}

}  // namespace mayfly
