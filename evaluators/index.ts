/** The evaluators. A new one is a file of its own and a line here. */
import type { AnyEvaluator } from './evaluator.ts';
import { analysisClarity } from './analysis-clarity.ts';
import { answerRelevance } from './answer-relevance.ts';
import { argumentCorrectness } from './argument-correctness.ts';
import { argumentProvenance } from './argument-provenance.ts';
import { codeParseable } from './code-parseable.ts';
import { codeReadability } from './code-readability.ts';
import { contains } from './contains.ts';
import { cosineSimilarity } from './cosine-similarity.ts';
import { cost } from './cost.ts';
import { customJudge } from './custom-judge.ts';
import { directMatch } from './direct-match.ts';
import { entityCorrectness } from './entity-correctness.ts';
import { exactMatch } from './exact-match.ts';
import { expectedTools } from './expected-tools.ts';
import { finalResponsePresent } from './final-response-present.ts';
import { goalReached } from './goal-reached.ts';
import { hallucination } from './hallucination.ts';
import { http } from './http.ts';
import { jsonParseable } from './json-parseable.ts';
import { jsonPath } from './json-path.ts';
import { jsonSimilarity } from './json-similarity.ts';
import { keywords } from './keywords.ts';
import { latency } from './latency.ts';
import { loopDetection } from './loop-detection.ts';
import { messageOrder } from './message-order.ts';
import { outputContains } from './output-contains.ts';
import { outputEquals } from './output-equals.ts';
import { outputRelevanceBySimilarity } from './output-relevance-by-similarity.ts';
import { outputSimilarity } from './output-similarity.ts';
import { parameterExtraction } from './parameter-extraction.ts';
import { planAdherence } from './plan-adherence.ts';
import { planQuality } from './plan-quality.ts';
import { promptInjectionInToolResult } from './prompt-injection-in-tool-result.ts';
import { qaCorrectness } from './qa-correctness.ts';
import { regexMatch } from './regex-match.ts';
import { relevance } from './relevance.ts';
import { router } from './router.ts';
import { stepCount } from './step-count.ts';
import { stepEfficiency } from './step-efficiency.ts';
import { summarization } from './summarization.ts';
import { taskCompletion } from './task-completion.ts';
import { tokenUsage } from './token-usage.ts';
import { toolArgumentHallucination } from './tool-argument-hallucination.ts';
import { toolCallArgs } from './tool-call-args.ts';
import { toolCallCount } from './tool-call-count.ts';
import { toolCallOrder } from './tool-call-order.ts';
import { toolCalled } from './tool-called.ts';
import { toolCallOutput } from './tool-call-output.ts';
import { toolCallValidity } from './tool-call-validity.ts';
import { toolCorrectness } from './tool-correctness.ts';
import { toolDescriptionReliability } from './tool-description-reliability.ts';
import { toolEfficiency } from './tool-efficiency.ts';
import { toolError } from './tool-error.ts';
import { toolNameReliability } from './tool-name-reliability.ts';
import { toolPermission } from './tool-permission.ts';
import { toolRecovery } from './tool-recovery.ts';
import { toolSelection } from './tool-selection.ts';
import { toolTrajectory } from './tool-trajectory.ts';
import { toxicity } from './toxicity.ts';
import { trajectoryMatch } from './trajectory-match.ts';
import { trajectoryQuality } from './trajectory-quality.ts';

export const evaluators: readonly AnyEvaluator[] = [
  toolCallValidity,
  toolError,
  toolRecovery,
  toolEfficiency,
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
