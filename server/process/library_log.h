// Redirects what gRPC and protobuf log to the server's log, as one line each, a few per second.
//
// On their own, they write to standard error, and wait for its reader: lines of any length, with
// line breaks that a caller chose.
#pragma once

namespace tenure::process {

// Call before anything uses them.
void TakeOverLibraryLogs();
// Call before the server's log ends; threads of gRPC may live longer.
void GiveBackLibraryLogs();

}  // namespace tenure::process
