# cpp-httplib as Debian packages it (libcpp-httplib-dev), which has no CMake package.
# Defines the target CppHttplib::CppHttplib.
find_path(CppHttplib_INCLUDE_DIR httplib.h)
find_library(CppHttplib_LIBRARY cpp-httplib)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CppHttplib
  REQUIRED_VARS CppHttplib_LIBRARY CppHttplib_INCLUDE_DIR)
if(CppHttplib_FOUND AND NOT TARGET CppHttplib::CppHttplib)
  add_library(CppHttplib::CppHttplib UNKNOWN IMPORTED)
  # The library is built with these, and some of its classes are larger for it.
  set_target_properties(CppHttplib::CppHttplib PROPERTIES
    IMPORTED_LOCATION ${CppHttplib_LIBRARY}
    INTERFACE_COMPILE_DEFINITIONS
      "CPPHTTPLIB_OPENSSL_SUPPORT;CPPHTTPLIB_ZLIB_SUPPORT;CPPHTTPLIB_BROTLI_SUPPORT"
    INTERFACE_INCLUDE_DIRECTORIES ${CppHttplib_INCLUDE_DIR})
endif()
