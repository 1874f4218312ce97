/** A backend that misbehaves while runs are scored, and comes round. */
import type { Fault } from './fault.ts';
import type { Behaviour } from './sink.ts';

export function failingBackend(name: string, summary: string, behaviour: Behaviour): Fault {
  return {
    name,
    summary,
    scores: 'all sent',
    async suffer({ chance, sink, acknowledged }) {
      await acknowledged(chance.below(20));
      sink.behave(behaviour);
      await acknowledged(60 + chance.below(60));
      sink.behave('well');
      await acknowledged(20);
    },
  };
}
