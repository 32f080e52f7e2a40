/** A lock provider of ShedLock, on Tenure. */
package io.tenure.shedlock;
