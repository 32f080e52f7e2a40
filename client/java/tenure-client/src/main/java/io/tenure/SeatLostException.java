package io.tenure;

/** The term has ended, or its work has to end before it does. The message says why. */
public class SeatLostException extends TenureException {
  private static final long serialVersionUID = 1;

  /**
   * The end of a term.
   *
   * @param message which term, and why
   */
  public SeatLostException(String message) {
    super(message);
  }

  /**
   * The end of a term that another exception reports.
   *
   * @param message which term, and why
   * @param cause the other exception
   */
  public SeatLostException(String message, Throwable cause) {
    super(message, cause);
  }
}
