import { clockJump } from './clock-jump.ts';

export const clockBack = clockJump(
  'clock back',
  'The process is killed, and the machine’s clock is set back by a day before the next start.',
  -1,
);
