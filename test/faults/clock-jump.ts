import type { Fault } from './fault.ts';

const dayMs = 86_400_000;

export function clockJump(name: string, summary: string, days: number): Fault {
  return {
    name,
    summary,
    scores: 'all sent',
    async suffer({ chance, restart, acknowledged }) {
      await acknowledged(20 + chance.below(40));
      await restart('SIGKILL', { clockMs: days * dayMs });
      await acknowledged(20 + chance.below(40));
      // And back again: what was written down in another time is read.
      await restart('SIGKILL');
      await acknowledged(20);
    },
  };
}
