/** The recipes for leaders that users of Apache Curator know, on Tenure. */
package io.tenure.leader;
