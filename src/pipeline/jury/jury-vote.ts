/** One vote of a judge: its questions carry the number of the vote, and ask how sure the judge is where that is wanted. The evaluator knows of neither. */
import type { Answer, Asking, JsonSchema, Question } from '../../../evaluators/evaluator.ts';
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../model/json.ts';
import type { Verdict } from '../../model/verdict.ts';
import { changedRequests, type ChangedRequest } from './judge-driver.ts';

interface VoteOptions {
  /** 1 is answered as the question of any evaluation is: what is known already need not be asked again. */
  readonly vote: number;
  readonly asksConfidence: boolean;
  /** Told of each answer, with the confidence that stood in it. */
  readonly heard: (answer: Answer, confidence: number | undefined) => void;
}

const confidenceName = 'confidence';
const confidenceSchema = { type: 'number', minimum: 0, maximum: 1 } as const;
const confidenceText = 'Last, give as confidence the probability, from 0 to 1, that a careful expert would come to the same result as you.';

export function voting(asking: Asking<Verdict>, { vote, asksConfidence, heard }: VoteOptions): Asking<Verdict> {
  return changedRequests(asking, (request): ChangedRequest => {
    const isQuestion = request.kind === undefined || request.kind === 'ask';
    const numbered = isQuestion && vote > 1 ? { ...request, vote } : request;
    const isVerdict = isQuestion && request.notes !== true;
    const asked = asksConfidence && isVerdict ? askedHowSure(numbered as Question) : undefined;
    return {
      request: asked?.question ?? numbered,
      heard(answer) {
        heard(answer, asksConfidence && isVerdict && answer.kind === 'answered' ? confidenceIn(answer.value) : undefined);
        return asked?.isAdded === true && answer.kind === 'answered' ? { ...answer, value: withoutConfidence(answer.value) } : answer;
      },
    };
  });
}

/** An answer that gives a confidence anyway follows its schema; an answer that is not an object has no place for it. */
function askedHowSure(question: Question): { readonly question: Question; readonly isAdded: boolean } {
  const { answerSchema, check } = question;
  const properties = member(answerSchema, 'properties');
  if (!isJsonObject(properties) || Object.hasOwn(properties, confidenceName)) return { question, isAdded: false };
  const asked: Question = {
    ...question,
    instruction: `${question.instruction}\n\n${confidenceText}`,
    answerSchema: withConfidence(answerSchema, properties),
  };
  return { question: check === undefined ? asked : { ...asked, check: (value) => check(withoutConfidence(value)) }, isAdded: true };
}

/** Behind everything else, so that it follows from the verdict. */
function withConfidence(schema: JsonSchema, properties: JsonObject): JsonSchema {
  const required = member(schema, 'required');
  return {
    ...schema,
    properties: { ...properties, [confidenceName]: confidenceSchema },
    required: [...(isJsonArray(required) ? required : []), confidenceName],
  };
}

function confidenceIn(value: JsonValue): number | undefined {
  const told = isJsonObject(value) ? member(value, confidenceName) : undefined;
  return typeof told === 'number' && told >= 0 && told <= 1 ? told : undefined;
}

function withoutConfidence(value: JsonValue): JsonValue {
  return isJsonObject(value) ? Object.fromEntries(Object.entries(value).filter(([name]) => name !== confidenceName)) : value;
}
