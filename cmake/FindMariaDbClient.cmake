# MariaDB Connector/C as Debian packages it (libmariadb-dev), which MySQL Connector/C++ works by there.
# Defines the target MariaDbClient::MariaDbClient.
find_path(MariaDbClient_INCLUDE_DIR mysql/plugin_auth.h PATH_SUFFIXES mariadb)
find_library(MariaDbClient_LIBRARY mariadb)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MariaDbClient
  REQUIRED_VARS MariaDbClient_LIBRARY MariaDbClient_INCLUDE_DIR)
if(MariaDbClient_FOUND AND NOT TARGET MariaDbClient::MariaDbClient)
  add_library(MariaDbClient::MariaDbClient UNKNOWN IMPORTED)
  set_target_properties(MariaDbClient::MariaDbClient PROPERTIES
    IMPORTED_LOCATION ${MariaDbClient_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${MariaDbClient_INCLUDE_DIR})
endif()
