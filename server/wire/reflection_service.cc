#include "server/wire/reflection_service.h"

#include <google/protobuf/descriptor.pb.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "grpc/reflection/v1/reflection.pb.h"
#include "proto/status.h"

namespace tenure::wire {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using grpc::reflection::v1::ServerReflectionRequest;
using grpc::reflection::v1::ServerReflectionResponse;

constexpr size_t kStreamsMax = 32;
constexpr size_t kQuestionBytesMax = 4'096;
constexpr char kMethod[] = "ServerReflectionInfo";

void Fail(grpc::StatusCode code, const std::string& message, ServerReflectionResponse& response) {
  response.mutable_error_response()->set_error_code(code);
  response.mutable_error_response()->set_error_message(message);
}

// The file, and all that it imports.
void AddFiles(const FileDescriptor& file, std::set<const FileDescriptor*>& seen,
              ServerReflectionResponse& response) {
  if (!seen.insert(&file).second) return;
  google::protobuf::FileDescriptorProto proto;
  file.CopyTo(&proto);
  response.mutable_file_descriptor_response()->add_file_descriptor_proto(proto.SerializeAsString());
  for (int i = 0; i < file.dependency_count(); ++i) {
    AddFiles(*file.dependency(i), seen, response);
  }
}

void FillFiles(const FileDescriptor* file, ServerReflectionResponse& response) {
  if (file == nullptr)
    return Fail(grpc::StatusCode::NOT_FOUND, "there is no such file, symbol or extension",
                response);
  std::set<const FileDescriptor*> seen;
  AddFiles(*file, seen, response);
}

const FileDescriptor* FileOfExtension(const grpc::reflection::v1::ExtensionRequest& request) {
  const auto& pool = *DescriptorPool::generated_pool();
  const auto* type = pool.FindMessageTypeByName(request.containing_type());
  if (type == nullptr) return nullptr;
  const auto* extension = pool.FindExtensionByNumber(type, request.extension_number());
  return extension == nullptr ? nullptr : extension->file();
}

void FillExtensions(const std::string& type_name, ServerReflectionResponse& response) {
  const auto& pool = *DescriptorPool::generated_pool();
  const auto* type = pool.FindMessageTypeByName(type_name);
  if (type == nullptr)
    return Fail(grpc::StatusCode::NOT_FOUND, "there is no such file, symbol or extension",
                response);
  std::vector<const google::protobuf::FieldDescriptor*> extensions;
  pool.FindAllExtensions(type, &extensions);
  auto& numbers = *response.mutable_all_extension_numbers_response();
  numbers.set_base_type_name(type_name);
  for (const auto* extension : extensions) numbers.add_extension_number(extension->number());
}

ServerReflectionResponse Answer(const ServerReflectionRequest& request,
                                const std::set<std::string>& services) {
  const auto& pool = *DescriptorPool::generated_pool();
  ServerReflectionResponse response;
  response.set_valid_host(request.host());
  *response.mutable_original_request() = request;
  switch (request.message_request_case()) {
    case ServerReflectionRequest::kFileByFilename:
      FillFiles(pool.FindFileByName(request.file_by_filename()), response);
      break;
    case ServerReflectionRequest::kFileContainingSymbol:
      FillFiles(pool.FindFileContainingSymbol(request.file_containing_symbol()), response);
      break;
    case ServerReflectionRequest::kFileContainingExtension:
      FillFiles(FileOfExtension(request.file_containing_extension()), response);
      break;
    case ServerReflectionRequest::kAllExtensionNumbersOfType:
      FillExtensions(request.all_extension_numbers_of_type(), response);
      break;
    case ServerReflectionRequest::kListServices:
      for (const std::string& name : services) {
        response.mutable_list_services_response()->add_service()->set_name(name);
      }
      break;
    case ServerReflectionRequest::MESSAGE_REQUEST_NOT_SET:
      Fail(grpc::StatusCode::INVALID_ARGUMENT, "the request asks for nothing", response);
      break;
  }
  return response;
}

}  // namespace

// Answers one request after the other.
class ReflectionService::Stream final : public CallHandler {
 public:
  Stream(ReflectionService& service, ServerCall& call, std::shared_ptr<void> place)
      : service_(service), call_(call), place_(std::move(place)) {}

  void OnRead(grpc::ByteBuffer* message) override {
    if (message == nullptr) return call_.Finish(grpc::Status::OK);
    ServerReflectionRequest request;
    const bool fits = message->Length() <= kQuestionBytesMax;
    if (!fits || !call_.Receive(*message, request)) return Refuse(call_, MalformedRequest());
    call_.Write(wire::Answer(request, service_.dispatcher_.services()));
  }
  void OnWritten(bool ok) override {
    if (!ok) return call_.Finish(grpc::Status::CANCELLED);
    call_.Read();
  }

 private:
  ReflectionService& service_;
  ServerCall& call_;
  const std::shared_ptr<void> place_;
};

ReflectionService::ReflectionService(Dispatcher& dispatcher, MayAsk may_ask)
    : dispatcher_(dispatcher), may_ask_(std::move(may_ask)), streams_(kStreamsMax) {
  const auto& service =
      *ServerReflectionRequest::descriptor()->file()->FindServiceByName("ServerReflection");
  dispatcher.AddStream(service, kMethod, *this, &ReflectionService::ServerReflectionInfo);
  dispatcher.AddAlias("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                      "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo");
}

void ReflectionService::ServerReflectionInfo(ServerCall& call) {
  if (const auto admitted = may_ask_(call.context()); !admitted) {
    return Refuse(call, admitted.error());
  }
  auto place = streams_.Take(call.context().peer());
  if (place == nullptr) {
    return call.Finish({grpc::StatusCode::RESOURCE_EXHAUSTED,
                        "too many calls of the reflection service from this address"});
  }
  call.ServeWith(std::make_shared<Stream>(*this, call, std::move(place)));
  call.Read();
}

}  // namespace tenure::wire
