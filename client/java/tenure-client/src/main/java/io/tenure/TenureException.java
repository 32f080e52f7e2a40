package io.tenure;

/**
 * The base of all exceptions of this library. Losing an election is an answer, and not among them.
 */
public class TenureException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /**
   * An exception of this library.
   *
   * @param message what was wrong, and what to do
   */
  public TenureException(String message) {
    super(message);
  }

  /**
   * An exception that another one has caused.
   *
   * @param message what was wrong, and what to do
   * @param cause what has caused it
   */
  public TenureException(String message, Throwable cause) {
    super(message, cause);
  }
}
