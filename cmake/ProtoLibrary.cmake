# tenure_proto_library(NAME [GRPC] PROTOS file...)
#
# A static library of what protoc makes of the files, in the current directory: messages, and with GRPC also
# services. Generated code is not held to the project's warnings.
function(tenure_proto_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "GRPC" "" "PROTOS")
  list(TRANSFORM arg_PROTOS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)

  add_library(${name} STATIC)
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)  # generated files share names
  target_include_directories(${name} SYSTEM PUBLIC ${CMAKE_CURRENT_BINARY_DIR})
  target_link_libraries(${name} PUBLIC protobuf::libprotobuf)
  protobuf_generate(TARGET ${name} LANGUAGE cpp PROTOS ${arg_PROTOS}
    IMPORT_DIRS ${CMAKE_CURRENT_SOURCE_DIR})
  if(arg_GRPC)
    target_link_libraries(${name} PUBLIC gRPC::grpc++)
    protobuf_generate(TARGET ${name} LANGUAGE grpc PROTOS ${arg_PROTOS}
      IMPORT_DIRS ${CMAKE_CURRENT_SOURCE_DIR}
      GENERATE_EXTENSIONS .grpc.pb.h .grpc.pb.cc
      PLUGIN "protoc-gen-grpc=\$<TARGET_FILE:gRPC::grpc_cpp_plugin>")
  endif()
endfunction()
