# What `make install` installs: both programs, and the C++ library for applications, which find it by
# find_package(tenure) or by pkg-config. Everything can be moved with its prefix.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# One archive, so that an application links one thing and sees nothing of the rooms within.
set(rooms
  tenure_client tenure_client_machine tenure_call_fence tenure_sql_fence tenure_core tenure_base tenure_proto
  tenure_proto_status tenure_proto_time tenure_rich_error tenure_tls)
list(TRANSFORM rooms REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
add_library(tenure_package STATIC ${objects})
set_target_properties(tenure_package PROPERTIES
  ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib
  OUTPUT_NAME tenure_client
  EXPORT_NAME client
  LINKER_LANGUAGE CXX)
target_compile_features(tenure_package INTERFACE cxx_std_20)
target_include_directories(tenure_package INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(tenure_package
  INTERFACE gRPC::grpc++ protobuf::libprotobuf prometheus-cpp::core tl::expected OpenSSL::SSL
    Threads::Threads)

# What applications' tests link besides: Tenure in memory.
add_library(tenure_testing_package STATIC
  $<TARGET_OBJECTS:tenure_testing> $<TARGET_OBJECTS:tenure_proto_convert>)
set_target_properties(tenure_testing_package PROPERTIES
  ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib
  OUTPUT_NAME tenure_testing
  EXPORT_NAME testing
  LINKER_LANGUAGE CXX)
target_link_libraries(tenure_testing_package INTERFACE $<INSTALL_INTERFACE:tenure::client>)
add_dependencies(tenure_package tenure_testing_package)

# Each component is a Debian package, too: see packaging/CMakeLists.txt.
install(TARGETS tenured COMPONENT server)
install(TARGETS tenure COMPONENT cli)
install(TARGETS tenure_package tenure_testing_package EXPORT tenure COMPONENT dev)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/client/cpp/tenure/ ${CMAKE_BINARY_DIR}/proto/tenure/v1
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tenure COMPONENT dev
  FILES_MATCHING PATTERN "*.h")

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/tenure)
install(EXPORT tenure FILE tenureTargets.cmake NAMESPACE tenure:: DESTINATION ${package}
  COMPONENT dev)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tenureConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES cmake/tenureConfig.cmake ${CMAKE_BINARY_DIR}/tenureConfigVersion.cmake
  DESTINATION ${package} COMPONENT dev)

set(pkgconfig ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH prefix_from_pkgconfig /${pkgconfig} /)
foreach(library tenure-client tenure-testing)
  configure_file(cmake/${library}.pc.in ${CMAKE_BINARY_DIR}/${library}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${library}.pc DESTINATION ${pkgconfig} COMPONENT dev)
endforeach()
