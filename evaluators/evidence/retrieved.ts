/** Retrieved content of a run: documents of its retrievers, or results of named tools. */
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import type { SpanId } from '../../src/model/ids.ts';
import { isJsonArray, isJsonObject, member, plainText, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { callDetails, cutShort, executedCalls, notCarried, skipped, type Skipped } from './calls.ts';
import { sameTool } from '../matching/names.ts';
import { callName, count } from '../explain/explanation.ts';

export interface Retrieved {
  readonly name: string;
  /** Not blank. */
  readonly text: string;
  readonly spanId?: SpanId;
  readonly details: JsonObject;
}

export type Found = { readonly kind: 'found'; readonly documents: readonly Retrieved[] } | Skipped;

/** Members of a result that hold lists of documents. */
const listNames = ['documents', 'results'] as const;

/** When `tools` names tools, only their results count. */
export function retrievedIn(trace: AgentTrace, tools: readonly string[]): Found {
  const found = tools.length === 0 ? documentsOf(trace) : resultsOf(trace, tools);
  if (found.kind === 'skipped' || found.documents.length > 0) return found;
  return skipped('no_such_target', 'Nothing was retrieved in this run.');
}

function documentsOf({ documents, truncated }: AgentTrace): Found {
  const carried = documents.flatMap(({ id, content, spanId }, at): readonly Retrieved[] => {
    if (content === undefined || content.trim() === '') return [];
    return [
      {
        name: `document ${at + 1}`,
        text: content,
        ...(spanId === undefined ? {} : { spanId }),
        details: { document: at + 1, ...(id === undefined ? {} : { id }), ...(spanId === undefined ? {} : { span_id: spanId }) },
      },
    ];
  });
  if (carried.length === 0 && truncated?.includes('spans') === true) return cutShort('requests to models, and perhaps documents,');
  if (carried.length === 0 && documents.length > 0)
    return skipped(
      'results_not_carried',
      `The spans carry no content of the ${count(documents.length, 'retrieved document')}; switch on the capture of documents.`,
    );
  return { kind: 'found', documents: carried };
}

function resultsOf(trace: AgentTrace, tools: readonly string[]): Found {
  const calls = executedCalls(trace).filter(({ call }) => tools.some((tool) => sameTool(tool, call.name)));
  if (calls.length === 0) return notCarried(trace) ?? { kind: 'found', documents: [] };
  if (calls.some(({ call }) => call.truncated?.result !== undefined)) return cutShort('results of tools that retrieve');
  const known = calls.filter(({ call }) => call.result !== undefined || call.error !== undefined);
  if (known.length === 0)
    return skipped('results_not_carried', 'The spans carry no results of the tools that retrieve; switch on the capture of tool outputs.');
  const documents = known.flatMap((placed) => {
    const { error, result, spanId } = placed.call;
    const parts =
      error !== undefined || result === undefined
        ? []
        : partsOf(result)
            .map(plainText)
            .filter((text) => text.trim() !== '');
    return parts.map((text, at): Retrieved => ({
      name: parts.length === 1 ? `the result of ${callName(placed)}` : `document ${at + 1} of ${callName(placed)}`,
      text,
      ...(spanId === undefined ? {} : { spanId }),
      details: { ...callDetails(placed), document: at + 1 },
    }));
  });
  return { kind: 'found', documents };
}

/** A list, or the only list under a usual name, holds one document per entry; any other result is one document. */
function partsOf(result: JsonValue): readonly JsonValue[] {
  if (result === null) return [];
  if (isJsonArray(result)) return result;
  const lists = isJsonObject(result) ? listNames.flatMap((name) => [member(result, name)].filter(isJsonArray)) : [];
  return lists.length === 1 ? (lists[0] ?? []) : [result];
}
