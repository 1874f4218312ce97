/** A disk whose n-th operation fails, with n one higher in each trial: enough trials reach every operation. */
import type { Fault } from './fault.ts';
import type { DiskFault } from './world.ts';

type How = Extract<DiskFault, { readonly kind: 'failing' }>['how'];

export function failingDisk(name: string, summary: string, { how, times }: { readonly how: How; readonly times: number }): Fault {
  return {
    name,
    summary,
    scores: 'all sent',
    // Two of three trials under load, one at the start, which is not done in fewer than a hundred operations.
    world: (_chance, trial) => ({
      disk: {
        kind: 'failing',
        ...(trial % 3 === 2 ? { since: 'start', from: 1 + Math.floor(trial / 3) } : { since: 'up', from: 1 + trial }),
        times,
        how,
      },
    }),
    async suffer({ restart, acknowledged }) {
      await acknowledged(60);
      // A process whose disk is sound reads the files that this one left.
      await restart('SIGKILL');
      await acknowledged(20);
    },
  };
}
