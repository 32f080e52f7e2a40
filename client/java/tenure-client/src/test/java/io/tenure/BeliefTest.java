package io.tenure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class BeliefTest {
  private final Belief belief = new Belief();

  @Test
  void noneStandsAtFirst() {
    assertEquals(0, belief.termAt(1));
    assertEquals(0, belief.remainingAt(1, 7));
  }

  @Test
  void itHoldsUntilItsDeadline() {
    belief.begin(7, 100);

    assertEquals(7, belief.termAt(99));
    assertEquals(1, belief.remainingAt(99, 7));
    assertEquals(0, belief.remainingAt(99, 6));
    assertEquals(0, belief.termAt(100));
  }

  @Test
  void itCanBeExtended() {
    belief.begin(7, 100);

    assertTrue(belief.extend(200));

    assertEquals(7, belief.termAt(150));
  }

  @Test
  void onceAReaderHasSeenItEndNoReaderSeesItAgain() {
    belief.begin(7, 100);
    assertEquals(0, belief.termAt(100));

    assertFalse(belief.extend(200));

    assertEquals(0, belief.termAt(50));
  }

  @Test
  void aLaterTermHoldsAgain() {
    belief.begin(7, 100);
    belief.end();
    assertEquals(0, belief.termAt(50));

    belief.begin(8, 200);

    assertEquals(8, belief.termAt(150));
  }
}
