package io.tenure;

/** A fenced transaction was refused: the term has ended. Stop acting as the leader. */
public final class TermOverException extends SeatLostException {
  private static final long serialVersionUID = 1;

  TermOverException(Fence fence, Throwable cause) {
    super("term " + fence.term() + " of election '" + fence.election() + "' does not stand", cause);
  }
}
