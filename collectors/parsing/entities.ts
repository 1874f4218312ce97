/** The subjects of a span, one by one, each with a name and its kind: `entity.1.name`, `entity.1.type`. Source: Monocle. */
import { isJsonObject, member, type JsonObject } from '../../src/model/json.ts';
import type { Span } from '../../src/model/span.ts';
import { unflattened } from './flattened.ts';
import type { KeyEvidence } from './key-evidence.ts';
import { kindIn } from './kind-words.ts';

type EntityKind = 'agent' | 'model' | 'tool';

/** The first one of a kind. `tool.function` and `agent.langgraph` say the kind before the framework. */
export function entityOf(span: Span, { lists }: KeyEvidence, kind: EntityKind): JsonObject | undefined {
  for (const list of lists.entities ?? [])
    for (const item of unflattened(span, list)) if (isJsonObject(item) && isOf(item, kind)) return item;
  return undefined;
}

/** A text member of the first entity of a kind. */
export function entityText(span: Span, evidence: KeyEvidence, kind: EntityKind, name: string): string | undefined {
  const entity = evidence.lists.entities === undefined ? undefined : entityOf(span, evidence, kind);
  const value = entity === undefined ? undefined : member(entity, name);
  return typeof value === 'string' && value !== '' && value !== 'None' ? value : undefined;
}

function isOf(item: JsonObject, kind: EntityKind): boolean {
  const type = member(item, 'type') ?? member(item, 'kind');
  const word = typeof type === 'string' ? (type.split('.')[0] ?? '') : '';
  // The service is listed beside the model that answers.
  return kindIn(word) === kind && word !== 'inference' && typeof member(item, 'name') === 'string';
}
