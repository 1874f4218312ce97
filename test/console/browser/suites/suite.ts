/** The contract of a suite of browser tests. */
import type { Browser } from 'playwright-core';
import type { Tally } from '../tally.ts';
import type { World } from '../world.ts';

export interface Setting {
  readonly browser: Browser;
  readonly world: World;
  readonly tally: Tally;
  /** Less than a minute for all suites together: each does what finds most. */
  readonly quick: boolean;
}

export interface Suite {
  readonly name: string;
  /** Part of `npm test`. */
  readonly isQuick: boolean;
  run(setting: Setting): Promise<void>;
}
