// The style of the contract: what `buf lint` checks with its STANDARD rules, and that every part of
// it is documented, each RPC with its errors.
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tenure {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::DescriptorPool;
using ::google::protobuf::EnumDescriptor;
using ::google::protobuf::EnumValueDescriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::FileDescriptor;
using ::google::protobuf::FileDescriptorSet;
using ::google::protobuf::MethodDescriptor;
using ::google::protobuf::OneofDescriptor;
using ::google::protobuf::ServiceDescriptor;
using ::google::protobuf::SourceLocation;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kReasonPrefix = "ERROR_REASON_";

// Every part of the project's own protos, of one kind each.
struct Contract {
  std::vector<const FileDescriptor*> files;
  std::vector<const Descriptor*> messages;
  std::vector<const FieldDescriptor*> fields;
  std::vector<const OneofDescriptor*> oneofs;
  std::vector<const EnumDescriptor*> enums;
  std::vector<const EnumValueDescriptor*> enum_values;
  std::vector<const ServiceDescriptor*> services;
  std::vector<const MethodDescriptor*> rpcs;
};

void Collect(const EnumDescriptor* type, Contract& contract) {
  contract.enums.push_back(type);
  for (int i = 0; i < type->value_count(); ++i) contract.enum_values.push_back(type->value(i));
}

void Collect(const Descriptor* message, Contract& contract) {
  contract.messages.push_back(message);
  for (int i = 0; i < message->field_count(); ++i) contract.fields.push_back(message->field(i));
  for (int i = 0; i < message->real_oneof_decl_count(); ++i) {
    contract.oneofs.push_back(message->oneof_decl(i));
  }
  for (int i = 0; i < message->enum_type_count(); ++i) Collect(message->enum_type(i), contract);
  for (int i = 0; i < message->nested_type_count(); ++i) Collect(message->nested_type(i), contract);
}

void Collect(const FileDescriptor* file, Contract& contract) {
  contract.files.push_back(file);
  for (int i = 0; i < file->message_type_count(); ++i) Collect(file->message_type(i), contract);
  for (int i = 0; i < file->enum_type_count(); ++i) Collect(file->enum_type(i), contract);
  for (int i = 0; i < file->service_count(); ++i) {
    const ServiceDescriptor* service = file->service(i);
    contract.services.push_back(service);
    for (int j = 0; j < service->method_count(); ++j) contract.rpcs.push_back(service->method(j));
  }
}

Contract Load() {
  std::ifstream input(TENURE_DESCRIPTOR_SET, std::ios::binary);
  FileDescriptorSet set;
  static DescriptorPool pool;
  Contract contract;
  if (!set.ParseFromIstream(&input)) return contract;
  for (const auto& proto : set.file()) {
    const FileDescriptor* file = pool.BuildFile(proto);
    if (file != nullptr && file->name().starts_with("tenure/")) Collect(file, contract);
  }
  return contract;
}

const Contract& TheContract() {
  static const Contract contract = Load();
  return contract;
}

template <typename Part>
const std::string& NameOf(const Part* part) {
  return part->full_name();
}

const std::string& NameOf(const FileDescriptor* file) { return file->name(); }

// The names of the parts that break the rule: none, if all is well.
template <typename Part, typename Rule>
std::vector<std::string> Against(const std::vector<const Part*>& parts, Rule keeps) {
  std::vector<std::string> names;
  for (const Part* part : parts) {
    if (!std::invoke(keeps, part)) names.push_back(NameOf(part));
  }
  return names;
}

bool Matches(const std::string& name, const char* pattern) {
  return std::regex_match(name, std::regex(pattern));
}

bool IsPascalCase(const std::string& name) { return Matches(name, "[A-Z][A-Za-z0-9]*"); }
bool IsLowerSnake(const std::string& name) { return Matches(name, "[a-z][a-z0-9]*(_[a-z0-9]+)*"); }
bool IsUpperSnake(const std::string& name) { return Matches(name, "[A-Z][A-Z0-9]*(_[A-Z0-9]+)*"); }

// ErrorReason -> ERROR_REASON_
std::string PrefixFor(const EnumDescriptor* type) {
  std::string prefix;
  for (const char c : type->name()) {
    if (std::isupper(static_cast<unsigned char>(c)) && !prefix.empty()) prefix += '_';
    prefix += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return prefix + "_";
}

std::string PackageDirectory(const FileDescriptor* file) {
  std::string directory = file->package();
  std::ranges::replace(directory, '.', '/');
  return directory;
}

// The comment before a part; empty if there is none.
template <typename Part>
std::string CommentOf(const Part* part) {
  SourceLocation location;
  return part->GetSourceLocation(&location) ? location.leading_comments : "";
}

template <typename Part>
bool IsDocumented(const Part* part) {
  return Matches(CommentOf(part), "[^]*[A-Za-z][^]*");
}

// The text after "Errors:" in an RPC's comment.
std::string ErrorsOf(const MethodDescriptor* rpc) {
  const std::string comment = CommentOf(rpc);
  const auto start = comment.find("Errors:\n");
  return start == std::string::npos ? "" : comment.substr(start);
}

bool IsGrpcCode(const std::string& word) {
  static const std::set<std::string> codes = {
      "CANCELLED", "UNKNOWN",        "INVALID_ARGUMENT",  "DEADLINE_EXCEEDED",
      "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED",
      "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "FAILED_PRECONDITION",
      "INTERNAL",  "UNAVAILABLE",    "DATA_LOSS",         "UNAUTHENTICATED"};
  return codes.contains(word);
}

// The words in capitals of an RPC's list of errors, in their order: codes and reasons.
std::vector<std::string> ErrorWords(const MethodDescriptor* rpc) {
  static const std::regex capitals("\\b[A-Z][A-Z0-9]+(_[A-Z0-9]+)*\\b");
  const std::string errors = ErrorsOf(rpc);
  std::vector<std::string> words;
  const std::sregex_iterator end;
  for (std::sregex_iterator word(errors.begin(), errors.end(), capitals); word != end; ++word) {
    words.push_back(word->str());
  }
  return words;
}

// The values of ErrorReason, without their prefix and the zero.
std::set<std::string> DeclaredReasons() {
  std::set<std::string> reasons;
  for (const EnumValueDescriptor* value : TheContract().enum_values) {
    const bool declares = value->type()->name() == "ErrorReason" && value->number() != 0;
    if (declares) reasons.insert(value->name().substr(kReasonPrefix.size()));
  }
  return reasons;
}

// Every reason that an RPC names, with the codes that it is named with.
std::map<std::string, std::set<std::string>> DocumentedReasons() {
  std::map<std::string, std::set<std::string>> reasons;
  for (const MethodDescriptor* rpc : TheContract().rpcs) {
    std::string code = "no code";
    for (const std::string& word : ErrorWords(rpc)) {
      const bool named_like_its_code = word == code && DeclaredReasons().contains(word);
      if (IsGrpcCode(word) && !named_like_its_code) {
        code = word;
      } else {
        reasons[word].insert(code);
      }
    }
  }
  return reasons;
}

std::set<std::string> Names(const std::map<std::string, std::set<std::string>>& reasons) {
  std::set<std::string> names;
  for (const auto& [name, codes] : reasons) names.insert(name);
  return names;
}

std::set<std::string> Without(const std::set<std::string>& all, const std::set<std::string>& some) {
  std::set<std::string> rest;
  std::ranges::set_difference(all, some, std::inserter(rest, rest.end()));
  return rest;
}

// The other files that a file uses: those of its fields' types and of its RPCs' messages.
std::set<const FileDescriptor*> FilesUsedBy(const FileDescriptor* file) {
  std::set<const FileDescriptor*> used;
  for (const FieldDescriptor* field : TheContract().fields) {
    if (field->file() != file) continue;
    if (field->message_type() != nullptr) used.insert(field->message_type()->file());
    if (field->enum_type() != nullptr) used.insert(field->enum_type()->file());
  }
  for (const MethodDescriptor* rpc : TheContract().rpcs) {
    if (rpc->file() != file) continue;
    used.insert(rpc->input_type()->file());
    used.insert(rpc->output_type()->file());
  }
  return used;
}

TEST(ProtoStyleTest, TheContractWasRead) {
  EXPECT_THAT(TheContract().files, Not(IsEmpty()));
  EXPECT_THAT(TheContract().rpcs, Not(IsEmpty()));
}

// --- Files ---

TEST(ProtoStyleTest, FilesAreProto3) {
  EXPECT_THAT(Against(TheContract().files,
                      [](const FileDescriptor* file) {
                        return file->syntax() == FileDescriptor::SYNTAX_PROTO3;
                      }),
              IsEmpty());
}

TEST(ProtoStyleTest, FileNamesAreLowerSnake) {
  EXPECT_THAT(Against(TheContract().files,
                      [](const FileDescriptor* file) {
                        return Matches(file->name(), "([a-z0-9_]+/)*[a-z][a-z0-9_]*\\.proto");
                      }),
              IsEmpty());
}

TEST(ProtoStyleTest, PackagesAreLowerSnakeAndEndWithAVersion) {
  EXPECT_THAT(Against(TheContract().files,
                      [](const FileDescriptor* file) {
                        return Matches(file->package(),
                                       "[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)*"
                                       "\\.v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?");
                      }),
              IsEmpty());
}

TEST(ProtoStyleTest, PackagesMatchTheirDirectories) {
  EXPECT_THAT(Against(TheContract().files,
                      [](const FileDescriptor* file) {
                        const auto& name = file->name();
                        return name.substr(0, name.rfind('/')) == PackageDirectory(file);
                      }),
              IsEmpty());
}

TEST(ProtoStyleTest, FilesOfOnePackageAgreeOnWhereTheirCodeGoes) {
  std::map<std::string, std::set<std::string>> places;

  for (const FileDescriptor* file : TheContract().files) {
    const auto& options = file->options();
    places[file->package()].insert(options.go_package() + " " + options.java_package() + " " +
                                   (options.java_multiple_files() ? "many" : "one"));
  }

  EXPECT_THAT(places, ::testing::Each(::testing::Pair(::testing::_, ::testing::SizeIs(1))));
}

TEST(ProtoStyleTest, ImportsAreNeitherPublicNorWeak) {
  EXPECT_THAT(Against(TheContract().files,
                      [](const FileDescriptor* file) {
                        return file->public_dependency_count() == 0 &&
                               file->weak_dependency_count() == 0;
                      }),
              IsEmpty());
}

TEST(ProtoStyleTest, ImportsAreUsed) {
  std::vector<std::string> unused;

  for (const FileDescriptor* file : TheContract().files) {
    const auto used = FilesUsedBy(file);
    for (int i = 0; i < file->dependency_count(); ++i) {
      if (!used.contains(file->dependency(i))) unused.push_back(file->dependency(i)->name());
    }
  }

  EXPECT_THAT(unused, IsEmpty());
}

// --- Messages and enums ---

TEST(ProtoStyleTest, MessagesArePascalCase) {
  EXPECT_THAT(Against(TheContract().messages,
                      [](const Descriptor* message) { return IsPascalCase(message->name()); }),
              IsEmpty());
}

TEST(ProtoStyleTest, FieldsAreLowerSnake) {
  EXPECT_THAT(Against(TheContract().fields,
                      [](const FieldDescriptor* field) { return IsLowerSnake(field->name()); }),
              IsEmpty());
}

TEST(ProtoStyleTest, OneofsAreLowerSnake) {
  EXPECT_THAT(Against(TheContract().oneofs,
                      [](const OneofDescriptor* oneof) { return IsLowerSnake(oneof->name()); }),
              IsEmpty());
}

TEST(ProtoStyleTest, EnumsArePascalCase) {
  EXPECT_THAT(Against(TheContract().enums,
                      [](const EnumDescriptor* type) { return IsPascalCase(type->name()); }),
              IsEmpty());
}

TEST(ProtoStyleTest, EnumsHaveNoAliases) {
  EXPECT_THAT(Against(TheContract().enums,
                      [](const EnumDescriptor* type) { return !type->options().allow_alias(); }),
              IsEmpty());
}

TEST(ProtoStyleTest, EnumValuesAreUpperSnake) {
  EXPECT_THAT(Against(TheContract().enum_values,
                      [](const EnumValueDescriptor* value) { return IsUpperSnake(value->name()); }),
              IsEmpty());
}

TEST(ProtoStyleTest, EnumValuesBeginWithTheNameOfTheirEnum) {
  EXPECT_THAT(Against(TheContract().enum_values,
                      [](const EnumValueDescriptor* value) {
                        return value->name().starts_with(PrefixFor(value->type()));
                      }),
              IsEmpty());
}

TEST(ProtoStyleTest, TheFirstValueOfAnEnumIsZeroAndUnspecified) {
  EXPECT_THAT(Against(TheContract().enums,
                      [](const EnumDescriptor* type) {
                        const EnumValueDescriptor* first = type->value(0);
                        return first->number() == 0 && first->name().ends_with("_UNSPECIFIED");
                      }),
              IsEmpty());
}

// --- Services ---

TEST(ProtoStyleTest, ServicesArePascalCaseAndEndWithService) {
  EXPECT_THAT(Against(TheContract().services,
                      [](const ServiceDescriptor* service) {
                        return IsPascalCase(service->name()) &&
                               service->name().ends_with("Service");
                      }),
              IsEmpty());
}

TEST(ProtoStyleTest, RpcsArePascalCase) {
  EXPECT_THAT(Against(TheContract().rpcs,
                      [](const MethodDescriptor* rpc) { return IsPascalCase(rpc->name()); }),
              IsEmpty());
}

TEST(ProtoStyleTest, RequestsAndResponsesAreNamedAfterTheirRpc) {
  EXPECT_THAT(Against(TheContract().rpcs,
                      [](const MethodDescriptor* rpc) {
                        return rpc->input_type()->name() == rpc->name() + "Request" &&
                               rpc->output_type()->name() == rpc->name() + "Response";
                      }),
              IsEmpty());
}

TEST(ProtoStyleTest, RequestsAndResponsesAreUsedOnce) {
  std::set<const Descriptor*> used;
  std::vector<std::string> used_again;

  for (const MethodDescriptor* rpc : TheContract().rpcs) {
    for (const Descriptor* message : {rpc->input_type(), rpc->output_type()}) {
      if (!used.insert(message).second) used_again.push_back(message->full_name());
    }
  }

  EXPECT_THAT(used_again, IsEmpty());
}

// --- Comments ---

TEST(ProtoCommentTest, EveryMessageHasAComment) {
  EXPECT_THAT(Against(TheContract().messages, IsDocumented<Descriptor>), IsEmpty());
}

TEST(ProtoCommentTest, EveryFieldHasAComment) {
  EXPECT_THAT(Against(TheContract().fields, IsDocumented<FieldDescriptor>), IsEmpty());
}

TEST(ProtoCommentTest, EveryOneofHasAComment) {
  EXPECT_THAT(Against(TheContract().oneofs, IsDocumented<OneofDescriptor>), IsEmpty());
}

TEST(ProtoCommentTest, EveryEnumHasAComment) {
  EXPECT_THAT(Against(TheContract().enums, IsDocumented<EnumDescriptor>), IsEmpty());
}

TEST(ProtoCommentTest, EveryEnumValueHasAComment) {
  EXPECT_THAT(Against(TheContract().enum_values, IsDocumented<EnumValueDescriptor>), IsEmpty());
}

TEST(ProtoCommentTest, EveryServiceHasAComment) {
  EXPECT_THAT(Against(TheContract().services, IsDocumented<ServiceDescriptor>), IsEmpty());
}

TEST(ProtoCommentTest, EveryRpcHasAComment) {
  EXPECT_THAT(Against(TheContract().rpcs, IsDocumented<MethodDescriptor>), IsEmpty());
}

TEST(ProtoCommentTest, EveryRpcListsItsErrors) {
  EXPECT_THAT(Against(TheContract().rpcs,
                      [](const MethodDescriptor* rpc) { return !ErrorWords(rpc).empty(); }),
              IsEmpty());
}

TEST(ProtoCommentTest, EveryReasonNamedByAnRpcExists) {
  EXPECT_THAT(Without(Names(DocumentedReasons()), DeclaredReasons()), IsEmpty());
}

TEST(ProtoCommentTest, EveryReasonIsNamedByAnRpc) {
  EXPECT_THAT(Without(DeclaredReasons(), Names(DocumentedReasons())), IsEmpty());
}

TEST(ProtoCommentTest, EveryReasonIsNamedWithTheSameCodeEverywhere) {
  std::vector<std::string> ambiguous;

  for (const auto& [reason, codes] : DocumentedReasons()) {
    const bool one_code = codes.size() == 1 && !codes.contains("no code");
    if (!one_code) ambiguous.push_back(reason);
  }

  EXPECT_THAT(ambiguous, IsEmpty());
}

}  // namespace
}  // namespace tenure
