/**
 * `tracejury/evaluators`: every evaluator as a factory, and `evaluate`, for unit tests and programs. A new evaluator is an import and a
 * line here. Calls are marked as pure, so that a bundler keeps only the evaluators that are used.
 */
import { analysisClarity as analysisClarityMember } from '../../evaluators/analysis-clarity.ts';
import { answerRelevance as answerRelevanceMember } from '../../evaluators/answer-relevance.ts';
import { argumentCorrectness as argumentCorrectnessMember } from '../../evaluators/argument-correctness.ts';
import { argumentProvenance as argumentProvenanceMember } from '../../evaluators/argument-provenance.ts';
import { codeParseable as codeParseableMember } from '../../evaluators/code-parseable.ts';
import { codeReadability as codeReadabilityMember } from '../../evaluators/code-readability.ts';
import { contains as containsMember } from '../../evaluators/contains.ts';
import { cosineSimilarity as cosineSimilarityMember } from '../../evaluators/cosine-similarity.ts';
import { cost as costMember } from '../../evaluators/cost.ts';
import { customJudge as customJudgeMember } from '../../evaluators/custom-judge.ts';
import { directMatch as directMatchMember } from '../../evaluators/direct-match.ts';
import { entityCorrectness as entityCorrectnessMember } from '../../evaluators/entity-correctness.ts';
import { exactMatch as exactMatchMember } from '../../evaluators/exact-match.ts';
import { expectedTools as expectedToolsMember } from '../../evaluators/expected-tools.ts';
import { finalResponsePresent as finalResponsePresentMember } from '../../evaluators/final-response-present.ts';
import { goalReached as goalReachedMember } from '../../evaluators/goal-reached.ts';
import { hallucination as hallucinationMember } from '../../evaluators/hallucination.ts';
import { http as httpMember } from '../../evaluators/http.ts';
import { jsonParseable as jsonParseableMember } from '../../evaluators/json-parseable.ts';
import { jsonPath as jsonPathMember } from '../../evaluators/json-path.ts';
import { jsonSimilarity as jsonSimilarityMember } from '../../evaluators/json-similarity.ts';
import { keywords as keywordsMember } from '../../evaluators/keywords.ts';
import { latency as latencyMember } from '../../evaluators/latency.ts';
import { loopDetection as loopDetectionMember } from '../../evaluators/loop-detection.ts';
import { messageOrder as messageOrderMember } from '../../evaluators/message-order.ts';
import { outputContains as outputContainsMember } from '../../evaluators/output-contains.ts';
import { outputEquals as outputEqualsMember } from '../../evaluators/output-equals.ts';
import { outputRelevanceBySimilarity as outputRelevanceBySimilarityMember } from '../../evaluators/output-relevance-by-similarity.ts';
import { outputSimilarity as outputSimilarityMember } from '../../evaluators/output-similarity.ts';
import { parameterExtraction as parameterExtractionMember } from '../../evaluators/parameter-extraction.ts';
import { planAdherence as planAdherenceMember } from '../../evaluators/plan-adherence.ts';
import { planQuality as planQualityMember } from '../../evaluators/plan-quality.ts';
import { promptInjectionInToolResult as promptInjectionInToolResultMember } from '../../evaluators/prompt-injection-in-tool-result.ts';
import { qaCorrectness as qaCorrectnessMember } from '../../evaluators/qa-correctness.ts';
import { regexMatch as regexMatchMember } from '../../evaluators/regex-match.ts';
import { relevance as relevanceMember } from '../../evaluators/relevance.ts';
import { router as routerMember } from '../../evaluators/router.ts';
import { stepCount as stepCountMember } from '../../evaluators/step-count.ts';
import { stepEfficiency as stepEfficiencyMember } from '../../evaluators/step-efficiency.ts';
import { summarization as summarizationMember } from '../../evaluators/summarization.ts';
import { taskCompletion as taskCompletionMember } from '../../evaluators/task-completion.ts';
import { tokenUsage as tokenUsageMember } from '../../evaluators/token-usage.ts';
import { toolArgumentHallucination as toolArgumentHallucinationMember } from '../../evaluators/tool-argument-hallucination.ts';
import { toolCallArgs as toolCallArgsMember } from '../../evaluators/tool-call-args.ts';
import { toolCallCount as toolCallCountMember } from '../../evaluators/tool-call-count.ts';
import { toolCallOrder as toolCallOrderMember } from '../../evaluators/tool-call-order.ts';
import { toolCallOutput as toolCallOutputMember } from '../../evaluators/tool-call-output.ts';
import { toolCallValidity as toolCallValidityMember } from '../../evaluators/tool-call-validity.ts';
import { toolCalled as toolCalledMember } from '../../evaluators/tool-called.ts';
import { toolCorrectness as toolCorrectnessMember } from '../../evaluators/tool-correctness.ts';
import { toolDescriptionReliability as toolDescriptionReliabilityMember } from '../../evaluators/tool-description-reliability.ts';
import { toolEfficiency as toolEfficiencyMember } from '../../evaluators/tool-efficiency.ts';
import { toolError as toolErrorMember } from '../../evaluators/tool-error.ts';
import { toolNameReliability as toolNameReliabilityMember } from '../../evaluators/tool-name-reliability.ts';
import { toolPermission as toolPermissionMember } from '../../evaluators/tool-permission.ts';
import { toolRecovery as toolRecoveryMember } from '../../evaluators/tool-recovery.ts';
import { toolSelection as toolSelectionMember } from '../../evaluators/tool-selection.ts';
import { toolTrajectory as toolTrajectoryMember } from '../../evaluators/tool-trajectory.ts';
import { toxicity as toxicityMember } from '../../evaluators/toxicity.ts';
import { trajectoryMatch as trajectoryMatchMember } from '../../evaluators/trajectory-match.ts';
import { trajectoryQuality as trajectoryQualityMember } from '../../evaluators/trajectory-quality.ts';
import { factory } from './factory.ts';

export const analysisClarity = /* @__PURE__ */ factory(analysisClarityMember);
export const answerRelevance = /* @__PURE__ */ factory(answerRelevanceMember);
export const argumentCorrectness = /* @__PURE__ */ factory(argumentCorrectnessMember);
export const argumentProvenance = /* @__PURE__ */ factory(argumentProvenanceMember);
export const codeParseable = /* @__PURE__ */ factory(codeParseableMember);
export const codeReadability = /* @__PURE__ */ factory(codeReadabilityMember);
export const contains = /* @__PURE__ */ factory(containsMember);
export const cosineSimilarity = /* @__PURE__ */ factory(cosineSimilarityMember);
export const cost = /* @__PURE__ */ factory(costMember);
export const customJudge = /* @__PURE__ */ factory(customJudgeMember);
export const directMatch = /* @__PURE__ */ factory(directMatchMember);
export const entityCorrectness = /* @__PURE__ */ factory(entityCorrectnessMember);
export const exactMatch = /* @__PURE__ */ factory(exactMatchMember);
export const expectedTools = /* @__PURE__ */ factory(expectedToolsMember);
export const finalResponsePresent = /* @__PURE__ */ factory(finalResponsePresentMember);
export const goalReached = /* @__PURE__ */ factory(goalReachedMember);
export const hallucination = /* @__PURE__ */ factory(hallucinationMember);
export const http = /* @__PURE__ */ factory(httpMember);
export const jsonParseable = /* @__PURE__ */ factory(jsonParseableMember);
export const jsonPath = /* @__PURE__ */ factory(jsonPathMember);
export const jsonSimilarity = /* @__PURE__ */ factory(jsonSimilarityMember);
export const keywords = /* @__PURE__ */ factory(keywordsMember);
export const latency = /* @__PURE__ */ factory(latencyMember);
export const loopDetection = /* @__PURE__ */ factory(loopDetectionMember);
export const messageOrder = /* @__PURE__ */ factory(messageOrderMember);
export const outputContains = /* @__PURE__ */ factory(outputContainsMember);
export const outputEquals = /* @__PURE__ */ factory(outputEqualsMember);
export const outputRelevanceBySimilarity = /* @__PURE__ */ factory(outputRelevanceBySimilarityMember);
export const outputSimilarity = /* @__PURE__ */ factory(outputSimilarityMember);
export const parameterExtraction = /* @__PURE__ */ factory(parameterExtractionMember);
export const planAdherence = /* @__PURE__ */ factory(planAdherenceMember);
export const planQuality = /* @__PURE__ */ factory(planQualityMember);
export const promptInjectionInToolResult = /* @__PURE__ */ factory(promptInjectionInToolResultMember);
export const qaCorrectness = /* @__PURE__ */ factory(qaCorrectnessMember);
export const regexMatch = /* @__PURE__ */ factory(regexMatchMember);
export const relevance = /* @__PURE__ */ factory(relevanceMember);
export const router = /* @__PURE__ */ factory(routerMember);
export const stepCount = /* @__PURE__ */ factory(stepCountMember);
export const stepEfficiency = /* @__PURE__ */ factory(stepEfficiencyMember);
export const summarization = /* @__PURE__ */ factory(summarizationMember);
export const taskCompletion = /* @__PURE__ */ factory(taskCompletionMember);
export const tokenUsage = /* @__PURE__ */ factory(tokenUsageMember);
export const toolArgumentHallucination = /* @__PURE__ */ factory(toolArgumentHallucinationMember);
export const toolCallArgs = /* @__PURE__ */ factory(toolCallArgsMember);
export const toolCallCount = /* @__PURE__ */ factory(toolCallCountMember);
export const toolCallOrder = /* @__PURE__ */ factory(toolCallOrderMember);
export const toolCalled = /* @__PURE__ */ factory(toolCalledMember);
export const toolCallOutput = /* @__PURE__ */ factory(toolCallOutputMember);
export const toolCallValidity = /* @__PURE__ */ factory(toolCallValidityMember);
export const toolCorrectness = /* @__PURE__ */ factory(toolCorrectnessMember);
export const toolDescriptionReliability = /* @__PURE__ */ factory(toolDescriptionReliabilityMember);
export const toolEfficiency = /* @__PURE__ */ factory(toolEfficiencyMember);
export const toolError = /* @__PURE__ */ factory(toolErrorMember);
export const toolNameReliability = /* @__PURE__ */ factory(toolNameReliabilityMember);
export const toolPermission = /* @__PURE__ */ factory(toolPermissionMember);
export const toolRecovery = /* @__PURE__ */ factory(toolRecoveryMember);
export const toolSelection = /* @__PURE__ */ factory(toolSelectionMember);
export const toolTrajectory = /* @__PURE__ */ factory(toolTrajectoryMember);
export const toxicity = /* @__PURE__ */ factory(toxicityMember);
export const trajectoryMatch = /* @__PURE__ */ factory(trajectoryMatchMember);
export const trajectoryQuality = /* @__PURE__ */ factory(trajectoryQualityMember);

export { factory };
export { evaluate, type EvaluateWith, type Expected, type UsableEvaluator, type UsableJudge } from './evaluate.ts';
export { evaluateTurns, type EvaluateTurnsWith, type ExpectedByTurn, type NamedTurnVerdicts } from './evaluate.ts';
export type { EvaluatorSetting, Factory, Given } from './factory.ts';
export { convergence, type ConvergenceOptions, type GroupOutcome, type GroupRun } from '../../evaluators/evidence/convergence.ts';
export { groupRun, type GroupRunOptions } from '../../evaluators/evidence/group-run.ts';
export { evaluationContext } from '../../evaluators/configuration/context.ts';
export { listPrices, listPricesDate } from '../../evaluators/pricing/list-prices.ts';
export type { Price, PriceTable } from '../../evaluators/pricing/prices.ts';
export type { ConfiguredEvaluator, ConfiguredHttp, ConfiguredJudge, ConfiguredRule } from '../../evaluators/configuration/configured.ts';
export type {
  Answer,
  Asking,
  EmbeddingRequest,
  EvaluationContext,
  EvaluatorRequest,
  HttpCall,
  JudgeEvaluator,
  Question,
  RuleEvaluator,
  Subject,
} from '../../evaluators/evaluator.ts';
export type { ErrorPredicate } from '../../evaluators/evidence/failed-calls.ts';
export type { ArgumentMatcher } from '../../evaluators/matching/arguments.ts';
export type { Expectation, ExpectedToolCall, ExpectedToolOutput } from '../model/expectation.ts';
export type { Outcome, PartVerdict, SkipReason, Verdict } from '../model/verdict.ts';
