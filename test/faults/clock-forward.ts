import { clockJump } from './clock-jump.ts';

export const clockForward = clockJump(
  'clock forward',
  'The process is killed, and the machine’s clock is set forward by a day before the next start.',
  1,
);
