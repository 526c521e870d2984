-- Copies the logs that the collector's clickhouse exporter writes (table otel_logs) into the table of mcpcore, so that
-- `mcpcore audit stats --store clickhouse://...` reads them within seconds. `mcpcore audit load` creates that table.
-- A record that is also loaded from a file counts once: its id is the hash of its line here, too.
CREATE MATERIALIZED VIEW mcpcore_from_collector TO mcpcore_failures AS
WITH
    JSONExtractString(Body, 'hash') AS hash,
    JSONExtractString(Body, 'alg') AS alg,
    parseDateTime64BestEffortOrNull(JSONExtractString(Body, 'timestamp'), 6, 'UTC') AS moment,
    arrayFilter(x -> JSONType(Body, x) = 'String', ['tool', 'resource', 'prompt', 'completion', 'http']) AS kinds,
    JSONExtract(Body, 'broken_contract_kinds', 'Array(String)') AS reported,
    arrayFilter(x -> has(reported, x), ['undeclared_reason', 'wrong_code', 'data', 'lost', 'other']) AS listed
SELECT
    toFixedString(SHA256(Body), 32) AS id,
    ifNull(moment, toDateTime64(0, 6, 'UTC')) AS time,
    toUnixTimestamp64Micro(moment) AS at,
    ResourceAttributes['service.instance.id'] AS trail,
    if(trail = '', 0, JSONExtractInt(Body, 'seq')) AS seq,
    multiIf(JSONHas(Body, 'event'), 'event',
            JSONExtractString(Body, 'outcome') IN ('lost', 'refused'), JSONExtractString(Body, 'outcome'),
            'failure') AS kind,
    multiIf(empty(kinds), '-',
            kinds[1] = 'tool', JSONExtractString(Body, 'tool'),
            concat(kinds[1], ' ', JSONExtractString(Body, kinds[1]))) AS subject,
    arrayMap(x -> JSONExtractString(Body, x), kinds) AS surfaces,
    nullIf(JSONExtractString(Body, 'reason'), '') AS reason,
    nullIf(JSONExtractString(Body, 'name'), '') AS name,
    if(JSONHas(Body, 'code'), toString(JSONExtractInt(Body, 'code')), NULL) AS code,
    JSONExtractString(Body, 'correlationId') AS ident,
    JSONExtractString(Body, 'server') AS server,
    if(kind = 'refused', greatest(toUInt32(JSONExtractUInt(Body, 'count')), 1), kind != 'event') AS count,
    if(kind = 'event', JSONExtractUInt(Body, 'records'), 0) AS missing,
    if(JSONHas(Body, 'broken_contract') AND kind != 'event',
       if(empty(listed), ['other'], listed),
       []) AS broken,
    if(empty(broken), 0, greatest(toUInt32(JSONExtractUInt(Body, 'count')), 1)) AS broken_count,
    multiIf(alg != 'sha256', 'unchecked',
            lower(hex(SHA256(substring(Body, 1, length(Body) - 75)))) = hash, 'hashed',
            'broken') AS proof,
    ResourceAttributes AS resource,
    Body AS line
FROM otel_logs
WHERE ScopeName = 'mcpcore' AND isValidJSON(Body)
