/**
 * Leader election as a service: the client library of Tenure. Begin with {@link
 * io.tenure.TenureClient} and {@link io.tenure.Elector}.
 */
package io.tenure;
