/** Leader election in Spring Boot: jobs that run on the leader, events, and health. */
package io.tenure.spring;
