/** The table of evaluators. A new evaluator is one file and one line here. */
import type { AnyEvaluator } from './evaluator.ts';
import {
  analysisClarity,
  answerRelevance,
  codeReadability,
  hallucination,
  qaCorrectness,
  relevance,
  summarization,
  toxicity,
} from './response-judges.ts';
import { argumentCorrectness, parameterExtraction, router, toolSelection } from './tool-call-judges.ts';
import { argumentProvenance, toolArgumentHallucination } from './argument-sources.ts';
import { codeParseable } from './code-parseable.ts';
import { contains, keywords, outputContains, regexMatch } from './text-search.ts';
import { cosineSimilarity, outputRelevanceBySimilarity, outputSimilarity } from './vector-similarity.ts';
import { cost, latency, stepCount, tokenUsage } from './budgets.ts';
import { customJudge } from './custom-judge.ts';
import { directMatch, exactMatch, outputEquals } from './output-equality.ts';
import { entityCorrectness } from './entity-correctness.ts';
import { expectedTools } from './expected-tools.ts';
import { finalResponsePresent } from './final-response-present.ts';
import { goalReached, stepEfficiency, trajectoryQuality } from './run-judges.ts';
import { http } from './http.ts';
import { jsonParseable } from './json-parseable.ts';
import { jsonPath } from './json-path.ts';
import { jsonSimilarity } from './json-similarity.ts';
import { loopDetection, toolEfficiency } from './repeated-calls.ts';
import { messageOrder } from './message-order.ts';
import { novelty } from './novelty.ts';
import { planAdherence, planQuality } from './plan-judges.ts';
import { processConformance } from './process-conformance.ts';
import { promptInjectionInToolResult } from './prompt-injection-in-tool-result.ts';
import { runError } from './run-error.ts';
import { taskCompletion } from './task-completion.ts';
import { toolCallArgs } from './tool-call-args.ts';
import { toolCallCount, toolCalled } from './tool-counts.ts';
import { toolCallOrder } from './tool-call-order.ts';
import { toolCallOutput } from './tool-call-output.ts';
import { toolCallValidity } from './tool-call-validity.ts';
import { toolCorrectness } from './tool-correctness.ts';
import { toolDescriptionReliability, toolNameReliability } from './definition-reliability.ts';
import { toolError, toolRecovery } from './tool-failures.ts';
import { toolPermission } from './tool-permission.ts';
import { toolTrajectory } from './tool-trajectory.ts';
import { trajectoryMatch } from './trajectory-match.ts';

export const evaluators: readonly AnyEvaluator[] = [
  toolCallValidity,
  toolError,
  toolRecovery,
  toolEfficiency,
  runError,
  loopDetection,
  stepCount,
  toolCorrectness,
  expectedTools,
  toolTrajectory,
  toolCallOutput,
  toolCallArgs,
  toolCallCount,
  toolCallOrder,
  toolCalled,
  toolPermission,
  promptInjectionInToolResult,
  messageOrder,
  trajectoryMatch,
  processConformance,
  novelty,
  taskCompletion,
  goalReached,
  stepEfficiency,
  planQuality,
  planAdherence,
  trajectoryQuality,
  entityCorrectness,
  analysisClarity,
  jsonSimilarity,
  exactMatch,
  contains,
  outputContains,
  outputEquals,
  jsonPath,
  regexMatch,
  jsonParseable,
  keywords,
  directMatch,
  codeParseable,
  cosineSimilarity,
  outputSimilarity,
  outputRelevanceBySimilarity,
  finalResponsePresent,
  toolNameReliability,
  toolDescriptionReliability,
  argumentProvenance,
  toolArgumentHallucination,
  argumentCorrectness,
  toolSelection,
  router,
  parameterExtraction,
  answerRelevance,
  relevance,
  hallucination,
  qaCorrectness,
  toxicity,
  summarization,
  codeReadability,
  latency,
  tokenUsage,
  cost,
  customJudge,
  http,
];
