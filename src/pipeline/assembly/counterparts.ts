/** Some SDKs write a turn of an agent as a step, with the name of the other side in place of the message that it sends or receives. */
import type { Message, SpanFacts } from '../../../collectors/collector.ts';
import type { Node } from './span-tree.ts';

/** The nodes in order, without messages that consist of an agent's name. */
export function withoutCounterparts(nodes: readonly Node[]): readonly Node[] {
  if (!nodes.some(isTurn)) return nodes;
  const names = new Set(nodes.flatMap(({ reading: { facts } }) => facts.agentName ?? []));
  const isName = (messages: readonly Message[] | undefined): boolean => isWord(messages) && names.has(messages?.[0]?.text ?? '');
  return nodes.map((node) => {
    if (!isTurn(node)) return node;
    const { inputMessages, outputMessages, ...rest } = node.reading.facts;
    const [isInput, isOutput] = [isName(inputMessages), isName(outputMessages)];
    if (!isInput && !isOutput) return node;
    const facts: SpanFacts = {
      ...rest,
      ...(isInput || inputMessages === undefined ? {} : { inputMessages }),
      ...(isOutput || outputMessages === undefined ? {} : { outputMessages }),
    };
    return { ...node, reading: { ...node.reading, facts } };
  });
}

function isTurn({ reading: { facts } }: Node): boolean {
  return facts.role === 'step' && (isWord(facts.inputMessages) || isWord(facts.outputMessages));
}

const nameCharsMax = 100;

/** A single message of one short line, as a name is. */
function isWord(messages: readonly Message[] | undefined): boolean {
  const [only] = messages ?? [];
  return (
    messages?.length === 1 &&
    only !== undefined &&
    only.requested.length + only.results.length === 0 &&
    (only.text?.length ?? Infinity) <= nameCharsMax
  );
}
