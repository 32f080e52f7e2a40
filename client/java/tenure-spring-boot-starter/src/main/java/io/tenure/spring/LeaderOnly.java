package io.tenure.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs the method only if this process leads, and otherwise does nothing: for {@code @Scheduled}
 * methods, which each process calls.
 *
 * <pre>{@code
 * @Scheduled(cron = "0 0 3 * * *")
 * @LeaderOnly("nightly")
 * void backUp() { ... }
 * }</pre>
 *
 * <p>The process stands from the first call on, and keeps the seat until the application ends: so
 * the others do nothing. While the method runs, the seat is not given up. A long one should ask
 * {@code elector.seat("nightly")} whether it {@code isStopping}.
 *
 * <p>It works on methods of beans that are called from outside, as all proxies of Spring do. If
 * this process does not lead, the method returns {@code null}; so it must not return a primitive.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface LeaderOnly {
  /**
   * The election.
   *
   * @return its name; may have placeholders, as in <code>${nightly.election}</code>
   */
  String value();
}
