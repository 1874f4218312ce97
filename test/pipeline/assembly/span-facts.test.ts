/** What two dialects tell about one span becomes one set of facts. */
import { expect, test } from 'vitest';
import type { SpanFacts } from '../../../collectors/collector.ts';
import { joined } from '../../../src/pipeline/assembly/span-facts.ts';

const told: SpanFacts = { role: 'agent', agentName: 'planner' };
const guess: SpanFacts = { role: 'agent', agentName: 'invoke', agentNameIsGuess: true };
const nameless: SpanFacts = { role: 'agent' };

const names: readonly {
  readonly name: string;
  readonly first: SpanFacts;
  readonly second: SpanFacts;
  readonly agent: string;
  readonly isGuess: boolean;
}[] = [
  { name: 'a told name of the second wins over a guess of the first', first: guess, second: told, agent: 'planner', isGuess: false },
  { name: 'a told name of the first stands without the doubt of the second', first: told, second: guess, agent: 'planner', isGuess: false },
  { name: 'of two told names the first counts', first: told, second: { ...told, agentName: 'other' }, agent: 'planner', isGuess: false },
  { name: 'of two guesses the first counts', first: guess, second: { ...guess, agentName: 'run' }, agent: 'invoke', isGuess: true },
  { name: 'a guess is better than no name', first: nameless, second: guess, agent: 'invoke', isGuess: true },
  { name: 'a guess stays one beside a dialect without a name', first: guess, second: nameless, agent: 'invoke', isGuess: true },
];
for (const { name, first, second, agent, isGuess } of names) {
  test(`span-facts: ${name}`, () => {
    const { agentName, agentNameIsGuess = false } = joined(first, second);
    expect([agentName, agentNameIsGuess]).toEqual([agent, isGuess]);
  });
}
