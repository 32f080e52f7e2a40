# MySQL Connector/C++ 1.1 as Debian packages it (libmysqlcppconn-dev), which has no CMake package.
# Defines the target MySqlConnectorCpp::MySqlConnectorCpp.
find_path(MySqlConnectorCpp_INCLUDE_DIR cppconn/driver.h)
find_library(MySqlConnectorCpp_LIBRARY mysqlcppconn)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MySqlConnectorCpp
  REQUIRED_VARS MySqlConnectorCpp_LIBRARY MySqlConnectorCpp_INCLUDE_DIR)
if(MySqlConnectorCpp_FOUND AND NOT TARGET MySqlConnectorCpp::MySqlConnectorCpp)
  add_library(MySqlConnectorCpp::MySqlConnectorCpp UNKNOWN IMPORTED)
  set_target_properties(MySqlConnectorCpp::MySqlConnectorCpp PROPERTIES
    IMPORTED_LOCATION ${MySqlConnectorCpp_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${MySqlConnectorCpp_INCLUDE_DIR})
endif()
