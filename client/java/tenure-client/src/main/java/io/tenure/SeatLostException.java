package io.tenure;

/** The term is over, or its work has to end before it is. The message says why. */
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
   * The end of a term, as another exception tells it.
   *
   * @param message which term, and why
   * @param cause what has told of it
   */
  public SeatLostException(String message, Throwable cause) {
    super(message, cause);
  }
}
