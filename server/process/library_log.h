// What gRPC and protobuf say goes into the server's log, as one line each, a few in a second.
//
// By themselves they write to standard error: lines of any length, with line breaks that a caller
// chose, and they wait for its reader.
#pragma once

namespace tenure::process {

// Before anything uses them.
void TakeOverLibraryLogs();
// Before the server's log ends; threads of gRPC may live longer.
void GiveBackLibraryLogs();

}  // namespace tenure::process
