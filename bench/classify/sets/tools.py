"""Sentences of tools, raised with exceptions of the application's own."""

# The cases do on purpose what the rules forbid, each in one line.
# ruff: noqa: E501
from __future__ import annotations

from bench.classify.case import Cases
from bench.classify.raising import (
    BatchJobError,
    GitError,
    IntegrationError,
    SyncError,
    ToolExecutionError,
    UpstreamError,
    WorkflowError,
)
from bench.classify.sets.service_clients import SSHException
from mcpcore.contract.codes import ErrorCode as E

CASES = Cases()
add = CASES.add


# Exceptions as applications define them.


# Sentences of servers: something does not exist.

CASES.say(E.NOT_FOUND, RuntimeError, "Image tag v1.4.2 not found in repository after push operation")
CASES.say(E.NOT_FOUND, ToolExecutionError, "Segment prod not found in core network core-network-0a1b2c3d.")
CASES.say(E.NOT_FOUND, Exception, "There is no user registered with the email address bob@example.com")
CASES.say(E.NOT_FOUND, RuntimeError, "Could not find a workbook with the id 41")
CASES.say(E.NOT_FOUND, UpstreamError, "Collection `embeddings` doesn't exist!")
CASES.say(
    E.NOT_FOUND, IntegrationError, "The specified blob does not exist. RequestId:7f0c1b52-101e-004d-7d2a-1f5b0e000000"
)
CASES.say(E.NOT_FOUND, GitError, "fatal: repository 'https://github.com/acme/nonesuch.git/' not found")
CASES.say(E.NOT_FOUND, Exception, "Unable to locate Lambda function 'resize-images' in eu-west-1")
CASES.say(E.NOT_FOUND, Exception, "no such host group: Linux servers")
CASES.say(E.NOT_FOUND, IntegrationError, "404 page not found")

# Something is in the way.

CASES.say(E.CONFLICT, Exception, "A pull request already exists for acme:feature/login.")
CASES.say(E.CONFLICT, UpstreamError, "Instance i-0abc is already running")
CASES.say(
    E.CONFLICT,
    GitError,
    "Auto-merging README.md\nCONFLICT (content): Merge conflict in README.md\nAutomatic merge failed; fix conflicts and then commit the result.",
)
CASES.say(E.CONFLICT, IntegrationError, 'Conflict. The container name "/web" is already in use by container "3f1c2a".')
CASES.say(E.CONFLICT, Exception, "That username is already taken")
CASES.say(E.CONFLICT, WorkflowError, "An invoice with number INV-2031 exists already")
CASES.say(E.CONFLICT, Exception, "The document was modified by another user since you opened it. Reload and try again.")

# A limit of calls.

CASES.say(
    E.RATE_LIMITED,
    UpstreamError,
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
)
CASES.say(E.RATE_LIMITED, Exception, "Slack API rate limit")
CASES.say(E.RATE_LIMITED, Exception, "Daily quota exceeded for project acme-maps; resets at midnight Pacific time")
CASES.say(
    E.RATE_LIMITED,
    IntegrationError,
    "toomanyrequests: You have reached your pull rate limit. You may increase the limit by authenticating and upgrading.",
)
CASES.say(E.RATE_LIMITED, RuntimeError, "Too many requests to the geocoder, slow down")
CASES.say(E.RATE_LIMITED, Exception, "Alpha Vantage: our standard API rate limit is 25 requests per day")

# Time ran out.

CASES.say(E.TIMEOUT, Exception, "Query timed out")
CASES.say(E.TIMEOUT, Exception, "PagerDuty webhook timeout")
CASES.say(E.TIMEOUT, RuntimeError, "Athena query 9f2d did not complete within 300 seconds")
CASES.say(
    E.TIMEOUT,
    Exception,
    'page.goto: Timeout 30000ms exceeded.\nCall log:\n  - navigating to "https://example.com/", waiting until "load"',
)
CASES.say(E.TIMEOUT, BatchJobError, "Gave up waiting for translation job tj-88 after 120s")
CASES.say(E.TIMEOUT, UpstreamError, "etcdserver: request timed out")
CASES.say(E.TIMEOUT, RuntimeError, "The operation took too long and was stopped after 60 seconds")
CASES.say(E.TIMEOUT, Exception, "Deadline of 20s exceeded while waiting for the browser")
CASES.say(E.TIMEOUT, SSHException, "Timeout opening channel.")

# Not allowed.

CASES.say(E.FORBIDDEN, Exception, "You do not have permission to modify this payment method")
CASES.say(E.FORBIDDEN, Exception, "Access denied - path outside allowed directories: /etc/shadow not in /home/app/data")
CASES.say(E.FORBIDDEN, ToolExecutionError, "User bob lacks the 'deploy' permission on project apollo")
CASES.say(E.FORBIDDEN, UpstreamError, "Resource not accessible by integration")
CASES.say(E.FORBIDDEN, IntegrationError, "Must have admin rights to Repository.")
CASES.say(E.FORBIDDEN, Exception, "Only the owner of a board may delete it")
CASES.say(E.FORBIDDEN, Exception, "insufficient privileges to read mailbox finance@example.com")

# Who are you.

CASES.say(E.UNAUTHORIZED, RuntimeError, "Bad credentials")
CASES.say(E.UNAUTHORIZED, Exception, "Your session has expired. Please log in again.")
CASES.say(E.UNAUTHORIZED, IntegrationError, "Client must be authenticated to access this resource.")
CASES.say(E.UNAUTHORIZED, GitError, "fatal: Authentication failed for 'https://github.com/acme/private.git/'")
CASES.say(E.UNAUTHORIZED, Exception, "OAuth error: invalid_token")
CASES.say(E.UNAUTHORIZED, Exception, "Login failed: wrong username or password")
CASES.say(E.UNAUTHORIZED, SyncError, "Refresh token is no longer valid; reconnect the Google account")
CASES.say(E.UNAUTHORIZED, ToolExecutionError, "Not authenticated. Run the login tool first.")

# A service behind is away.

CASES.say(E.SERVICE_UNAVAILABLE, RuntimeError, "backend unavailable")
CASES.say(
    E.SERVICE_UNAVAILABLE,
    UpstreamError,
    "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
)
CASES.say(E.SERVICE_UNAVAILABLE, Exception, "Lost connection to MQTT broker")
CASES.say(
    E.SERVICE_UNAVAILABLE,
    IntegrationError,
    "upstream connect error or disconnect/reset before headers. reset reason: connection failure",
)
CASES.say(E.SERVICE_UNAVAILABLE, Exception, "no healthy upstream")
CASES.say(E.SERVICE_UNAVAILABLE, SyncError, "Could not reach the Jira instance at https://acme.atlassian.net")
CASES.say(E.SERVICE_UNAVAILABLE, RuntimeError, "Failed to connect to Supabase: [Errno 111] Connection refused")
CASES.say(E.SERVICE_UNAVAILABLE, Exception, "API call failed with status 502: <html><title>Bad Gateway</title></html>")
CASES.say(E.SERVICE_UNAVAILABLE, Exception, "GitLab is down for maintenance, please check back later")
CASES.say(E.SERVICE_UNAVAILABLE, WorkflowError, "circuit breaker is open for payments-api")
CASES.say(
    E.SERVICE_UNAVAILABLE,
    GitError,
    "fatal: unable to access 'https://git.acme.test/web.git/': Could not resolve host: git.acme.test",
)
CASES.say(E.SERVICE_UNAVAILABLE, Exception, "The weather service is temporarily offline")

# The input breaks a rule.

CASES.say(E.VALIDATION_ERROR, ValueError, "formality must be 'FORMAL' or 'INFORMAL'")
CASES.say(E.VALIDATION_ERROR, ToolExecutionError, "max_tokens must be an integer, got 'many'")
CASES.say(E.VALIDATION_ERROR, Exception, "'lagos' is not a valid timezone")
CASES.say(E.VALIDATION_ERROR, RuntimeError, "Invalid email address: bob@@example")
CASES.say(
    E.VALIDATION_ERROR, UpstreamError, "body failed validation: body.parent should be defined, instead was `undefined`."
)
CASES.say(E.VALIDATION_ERROR, Exception, "Field 'priority' is required")
CASES.say(E.VALIDATION_ERROR, Exception, "Invalid date format, expected YYYY-MM-DD")

# The server was set up wrongly, or did not come up.

CASES.say(
    E.CONFIGURATION_ERROR,
    Exception,
    "Reddit API credentials not configured. Please add REDDIT_CLIENT_ID and REDDIT_CLIENT_SECRET to your .env file.",
)
CASES.say(E.CONFIGURATION_ERROR, SyncError, "Missing configuration: NEO4J_URI")
CASES.say(E.CONFIGURATION_ERROR, IntegrationError, "MONITORING_ENDPOINT is not configured on this server")
CASES.say(E.INITIALIZATION_FAILED, Exception, "Initialization of the embedding model failed")

# The store.

CASES.say(E.DATABASE_ERROR, Exception, "ORA-00942: table or view does not exist")
CASES.say(E.DATABASE_ERROR, RuntimeError, 'relation "orders_2024" does not exist\nLINE 1: SELECT * FROM orders_2024')
CASES.say(E.DATABASE_ERROR, Exception, "database disk image is malformed")
CASES.say(
    E.DATABASE_ERROR,
    WorkflowError,
    "Transaction (Process ID 61) was deadlocked on lock resources with another process and has been chosen as the deadlock victim.",
)

# Called off.

CASES.say(E.REQUEST_CANCELLED, Exception, "Request was cancelled by the client")
CASES.say(E.REQUEST_CANCELLED, RuntimeError, "Operation cancelled by user")
CASES.say(E.REQUEST_CANCELLED, BatchJobError, "The export was canceled")

# Bytes that cannot be written or read.

CASES.say(E.SERIALIZATION_ERROR, RuntimeError, "Failed to serialize the report to JSON")
CASES.say(E.SERIALIZATION_ERROR, IntegrationError, "Could not deserialize Avro record: schema fingerprint differs")

# Sentences that say nothing, or whose words and figures mean something else.

for _sentence in (
    "Something went wrong",
    "Failed to process",
    "Unexpected internal error",
    "The operation did not complete successfully",
    "Command failed with exit code 1",
    "Markdown generation failed",
    "handler blew up",
    "execution failure",
    "",
    "Failed to process 401 records",
    "Error processing row 429 of 503",
    "Analysis failed for 3 of 7 files",
    "Simulation diverged at step 404",
    "Unable to render the 'permissions' widget",
    "Could not draw the timeouts-per-hour chart",
    "oops",
    "Tool returned an unexpected result: []",
):
    CASES.say(E.INTERNAL_ERROR, Exception if len(_sentence) % 2 else RuntimeError, _sentence)
CASES.say(E.INTERNAL_ERROR, WorkflowError, "Step 'collect' of workflow nightly-digest ended in state FAILED")
