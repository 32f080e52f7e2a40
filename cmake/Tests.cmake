# The kinds of test, and what CTest calls them. `make test-unit` runs the labels `unit` and `sim`.
enable_testing()
find_package(GTest REQUIRED)
include(GoogleTest)

# Tests are compiled more often than they run: this halves it. What they test is optimised.
target_compile_options(GTest::gtest_main INTERFACE -O0 -g1)

# Everything that `make test-unit` runs.
add_custom_target(unit_tests)

# tenure_unit_tests(LABEL PROGRAM SOURCE...): tests that need no server. Each TEST is one test to CTest, or the program with
# all of them, as TENURE_TEST_EACH says.
function(tenure_unit_tests label program)
  add_executable(${program} ${ARGN})
  target_link_libraries(${program} PRIVATE GTest::gmock GTest::gtest_main)
  target_precompile_headers(${program} PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
  if(TENURE_TEST_EACH)
    gtest_discover_tests(${program} NO_PRETTY_VALUES PROPERTIES LABELS ${label})
  else()
    add_test(NAME ${program} COMMAND ${program} --gtest_brief=1)
    set_tests_properties(${program} PROPERTIES LABELS ${label})
  endif()
  add_dependencies(unit_tests ${program})
endfunction()

# Tests that start servers take longest, so they are started first.
function(tenure_server_test label name)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS ${label} COST 100)
endfunction()

# tenure_suite(LABEL FILE...): the program LABEL_test, of files whose tests run tenured and tenure. Each file is one
# test to CTest, since its tests share a database server.
function(tenure_suite label)
  set(program ${label}_test)
  list(TRANSFORM ARGN APPEND .cc OUTPUT_VARIABLE sources)
  add_executable(${program} ${sources} ${CMAKE_SOURCE_DIR}/tests/support/suite_main.cc)
  add_dependencies(${program} tenured tenure)
  target_link_libraries(${program} PRIVATE tenure_rpc_test_support GTest::gmock GTest::gtest_main)
  target_precompile_headers(${program} PRIVATE <gmock/gmock.h> <gtest/gtest.h> <grpcpp/grpcpp.h>)
  foreach(file ${ARGN})
    get_filename_component(name ${file} NAME)
    tenure_server_test(${label} ${name} ${program} ${name})
  endforeach()
endfunction()
