/** Documents that a retriever found, as SDKs write them: LangChain's, MLflow's and Genkit's, or bare texts. */
import type { RetrievedDocument } from '../../src/model/agent-trace.ts';
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { AttributeValue } from '../../src/model/span.ts';
import { jsonOf, parseContainer, textOfParts } from './parsing.ts';

/** Real requests give a model fewer documents than this. */
export const documentsMax = 1_000;

/** The documents in a list, in a JSON text of one, or under the member that frames it. Items that are not documents are left out. */
export function readDocuments(raw: AttributeValue | undefined): readonly RetrievedDocument[] {
  if (raw === undefined) return [];
  const value = jsonOf(raw);
  return listIn(typeof value === 'string' ? (parseContainer(value) ?? null) : value)
    .slice(0, documentsMax)
    .flatMap(readDocument);
}

function listIn(value: JsonValue): readonly JsonValue[] {
  if (isJsonArray(value)) return value;
  if (!isJsonObject(value)) return [];
  return ['documents', 'output', 'outputs', 'result'].map((key) => member(value, key)).find(isJsonArray) ?? [];
}

function readDocument(item: JsonValue): readonly RetrievedDocument[] {
  if (typeof item === 'string') return item === '' ? [] : [{ content: item }];
  if (!isJsonObject(item)) return [];
  const kwargs = member(item, 'kwargs');
  // LangChain's constructor form.
  const from = member(item, 'lc') !== undefined && isJsonObject(kwargs) ? kwargs : item;
  const metadata = member(from, 'metadata');
  const about: JsonObject = isJsonObject(metadata) ? metadata : {};
  const content = contentOf(from);
  const id = [member(from, 'id'), member(about, 'id'), member(about, 'doc_uri')].find(
    (value) => typeof value === 'string' || typeof value === 'number',
  );
  const score = [member(from, 'score'), member(about, 'score')].find((value) => typeof value === 'number');
  if (content === undefined && id === undefined) return [];
  return [
    {
      ...(id === undefined ? {} : { id: String(id) }),
      ...(content === undefined ? {} : { content }),
      ...(score === undefined ? {} : { score }),
    },
  ];
}

function contentOf(document: JsonObject): string | undefined {
  const content = ['page_content', 'pageContent', 'content', 'text']
    .map((key) => member(document, key))
    .find((value) => value !== undefined && value !== null);
  const text = isJsonArray(content) ? textOfParts(content)?.result : content;
  return typeof text === 'string' ? text : undefined;
}
