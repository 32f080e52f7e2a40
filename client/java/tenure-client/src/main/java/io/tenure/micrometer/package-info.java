/** Metrics for Micrometer. */
package io.tenure.micrometer;
