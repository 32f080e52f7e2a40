# ZooKeeper's C client with threads of its own, as Debian packages it (libzookeeper-mt-dev), which has
# no CMake package. Defines the target ZooKeeper::ZooKeeper.
find_path(ZooKeeper_INCLUDE_DIR zookeeper/zookeeper.h)
find_library(ZooKeeper_LIBRARY zookeeper_mt)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ZooKeeper REQUIRED_VARS ZooKeeper_LIBRARY ZooKeeper_INCLUDE_DIR)
if(ZooKeeper_FOUND AND NOT TARGET ZooKeeper::ZooKeeper)
  add_library(ZooKeeper::ZooKeeper UNKNOWN IMPORTED)
  set_target_properties(ZooKeeper::ZooKeeper PROPERTIES
    IMPORTED_LOCATION ${ZooKeeper_LIBRARY}
    INTERFACE_COMPILE_DEFINITIONS THREADED
    INTERFACE_INCLUDE_DIRECTORIES ${ZooKeeper_INCLUDE_DIR})
endif()
