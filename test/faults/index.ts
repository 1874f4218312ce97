/** Every fault. A new one is a file and a line. */
import { backendBusy } from './backend-busy.ts';
import { backendDown } from './backend-down.ts';
import { backendLying } from './backend-lying.ts';
import { backendSlow } from './backend-slow.ts';
import { clockBack } from './clock-back.ts';
import { clockForward } from './clock-forward.ts';
import { diskFails } from './disk-fails.ts';
import { diskFull } from './disk-full.ts';
import type { Fault } from './fault.ts';
import { kill } from './kill.ts';
import { killWithoutBackend } from './kill-without-backend.ts';
import { powerLoss } from './power-loss.ts';
import { shortWrite } from './short-write.ts';
import { sighupStorm } from './sighup-storm.ts';
import { sigtermStorm } from './sigterm-storm.ts';
import { slowSync } from './slow-sync.ts';

export const faults: readonly Fault[] = [
  kill,
  powerLoss,
  diskFails,
  diskFull,
  shortWrite,
  slowSync,
  backendDown,
  backendBusy,
  backendSlow,
  backendLying,
  killWithoutBackend,
  clockBack,
  clockForward,
  sigtermStorm,
  sighupStorm,
];
