"""A fifth held-back part: sentences of services, servers and tools, in helpings, with traps among them.

Each helping was labelled and asked once before anything was changed for it, as those of the fourth were. Sentences of
which two codes could be said are left out, and so are long ones that are a service's own words.
"""

from __future__ import annotations

from typing import Final

from bench.classify.case import Cases
from bench.classify.sets.sentences import listed, says

CASES = Cases(held_back=True)

HELPINGS: Final = {
    "services and traps": r"""
== DATABASE_ERROR
ERROR:  relation "unauthorized_users" does not exist at character 15
no such table: accounts
could not serialize access due to concurrent update
database disk image is malformed
column "foo" does not exist
SQLSTATE[42S02]: Base table or view not found: 1146 Table 'a.b' doesn't exist
ORA-00060: deadlock detected while waiting for resource
Lock wait timeout exceeded; try restarting transaction
Invalid object name 'dbo.Missing'.
== VALIDATION_ERROR
Field 'permission_level' must be one of: read, write, admin
Invalid value for parameter 'timeout': expected a positive number, got -3
The tag 'duplicate' contains characters that may not be used
insert or update on table "orders" violates foreign key constraint "orders_user_fk"
null value in column "name" of relation "items" violates not-null constraint
new row for relation "a" violates check constraint "a_positive"
"age" must be a number
email is not a valid email address
Expected string, received number at path user.name
value is too long (max 255 characters)
date_from must be before date_to
page must be >= 1
missing required argument: owner
'colour' is a required property
Additional properties are not allowed ('x' was unexpected)
ValidationError: title: String should have at least 1 character
[{"loc":["body","name"],"msg":"field required","type":"value_error.missing"}]
Request failed with status code 422
The payload exceeds the maximum size of 10 MB
limit cannot be greater than 100
quantity must not be negative
Please provide a start date
Unrecognized option '--foo'
could not parse date "31.31.2024"
Invalid cron expression
name is required
cannot be blank
unknown field "replica" in spec
prompt is too long: 210000 tokens > 200000 maximum
maximum context length is 4096 tokens, the request has 5000
Input should be less than or equal to 10
ZodError: Required at "query"
The regular expression is malformed: unterminated group
phone: enter a valid number
ERR_INVALID_ARG_VALUE: bad size
"cancelled" is not a valid order state
status must be one of [active, expired, unauthorized]
Unknown unit: parsec
currency code "XYZ" is not supported
Coordinates out of bounds
The file is empty
image dimensions are too large
== NOT_FOUND
No document found with slug "access-denied-page"
Playlist "Connection Refused" not found
{"type":"about:blank","title":"Not Found","status":404}
curl: (22) The requested URL returned error: 404
ENOENT: no such file or directory, open 'a.json'
There is no user with id 99
Unable to locate object with key x
Could not find a package named leftpad2
404 page not found
unknown revision or path not in the working tree
pods "web-0" not found
The requested resource could not be located
No matching records
rpc error: code = NotFound desc = instance gone
The page you were looking for has been removed
no results for query 'zebra'
unknown user: alice
image not known
Model gpt-9 does not exist
manifest unknown
Key not present in store
2024-05-04 10:00:00,123 ERROR app.views: Customer 88 was not found
err_not_found
lookup of "timeout.log" failed: file does not exist
no rule called 'rate limit' was found
Unknown timezone: Europe/Nowhere
City not in our database
== CONFLICT
A workspace named "forbidden planet" already exists
etag mismatch: the object was modified by someone else
optimistic lock failed: version 3 expected, found 4
Branch 'main' cannot be fast-forwarded; your push was rejected
Merge conflict in src/app.ts
Email address is already in use by another account
A deployment is already in progress
bucket name is not available, it is owned by someone else already
job 17 is already running
E11000 duplicate key error collection: app.users index: email_1 dup key
duplicate key value violates unique constraint "users_pkey"
lock is held by another process
SQLSTATE[23000]: Integrity constraint violation: 1062 Duplicate entry '5' for key 'PRIMARY'
ORA-00001: unique constraint (APP.PK_X) violated
Violation of PRIMARY KEY constraint 'PK_T'. Cannot insert duplicate key in object 'dbo.T'.
ERR_CONFLICT: etag
== UNAUTHORIZED
API key missing. Pass it in the X-Api-Key header.
You need to sign in before you can continue
HTTP/1.1 401 Unauthorized
ORA-01017: invalid username/password; logon denied
Login failed for user 'sa'.
password authentication failed for user "postgres"
invalid signature
The access token provided has expired, been revoked or is malformed
session expired, please log in again
{"error":"invalid_client","error_description":"Client authentication failed"}
Incorrect API key provided: sk-abc***
Your session has timed out. Sign in again.
Refresh token is no longer valid
not authenticated
unauthenticated: missing bearer
WWW-Authenticate: Bearer error="invalid_token"
AADSTS50058: A silent sign-in request was sent but no user is signed in.
(401) token rejected
E_UNAUTHORIZED: guard web
== RATE_LIMITED
{"message":"API rate limit exceeded for user 4711","docs":"https://docs.example/rest"}
Slow down! You are sending messages too fast.
You have used all 5000 of your requests for this hour
Daily limit of 100 emails reached
Monthly quota exhausted, upgrade your plan to continue
Request was throttled. Expected available in 31 seconds.
E429: back off and retry in 12s
WARN retry: got 429 from api.example.com
ERR_RATE_LIMIT
Resource has been exhausted (e.g. check quota).
code=RESOURCE_EXHAUSTED
concurrency limit reached (10 running)
too many concurrent queries
queue is full, try later
burst capacity exceeded
You've hit your limit
== SERVICE_UNAVAILABLE
Our servers are currently overloaded, please try again later
The engine is currently overloaded
upstream connect error: reset before headers, connection failure
no healthy upstream
<html><head><title>502 Bad Gateway</title></head><body><center>nginx</center></body></html>
503 Service Temporarily Unavailable
net::ERR_CONNECTION_REFUSED at http://localhost:3000
net::ERR_NAME_NOT_RESOLVED
getaddrinfo EAI_AGAIN api.example.com
socket hang up
dial tcp 10.2.3.4:5432: connect: connection refused
dial tcp: lookup db.internal on 10.0.0.2:53: no such host
x509: certificate signed by unknown authority
tls: failed to verify certificate: x509: certificate has expired or is not yet valid
curl: (6) Could not resolve host: example.org
curl: (7) Failed to connect to localhost port 9200 after 0 ms: Couldn't connect to server
curl: (60) SSL certificate problem: self-signed certificate
unexpected EOF while reading from upstream
write: broken pipe
No route to host
Redis connection to 127.0.0.1:6379 failed
Circuit breaker is OPEN for payments-service
The service is undergoing scheduled maintenance
Kafka broker not available
Lost connection to backend, will reconnect
leader election in progress, no leader
FATAL: the database system is starting up
Connection aborted by peer
Internal Server Error
An internal server error occurred on api.example.com (500)
[ERROR] 2024-05-04T10:00:00Z worker-3 | ECONNRESET while talking to db
[gateway] 503 from inventory
grpc: the connection is unavailable
Weather provider did not respond
weather API is down
could not reach license server
Failed to fetch
fetch failed
NetworkError when attempting to fetch resource.
== TIMEOUT
504 Gateway Time-out
Error: Navigation timeout of 30000 ms exceeded
Task did not complete within 60 seconds
the operation took longer than the allowed 5s and was stopped
read ETIMEDOUT
net::ERR_TIMED_OUT
curl: (28) Operation timed out after 10001 milliseconds with 0 bytes received
E_TIMEOUT
DEADLINE_EXCEEDED: Deadline exceeded after 2.9s
Gave up waiting for the printer
== FORBIDDEN
Access to the path '/etc/shadow' is denied.
You do not have permission to view this channel
insufficient_scope: the token lacks repo:write
Only the owner can delete this board
Your account has been suspended
new row violates row-level security policy for table "notes"
Origin https://evil.example is not allowed by Access-Control-Allow-Origin
You can't do that: write access to the repository is not granted
admin privileges required
must be superuser to alter role
EACCES: permission denied, open '/var/log/x'
EPERM: operation not permitted, unlink 'a'
blocked by organization policy
payment required: please add a card
Country not supported: requests from your region are blocked
This feature is not available on the free plan
status=403 path=/admin
AccessDeniedException: arn:aws:iam::1:user/x
The user may not read folder "not found"
Sharing outside of your domain is disabled by your administrator
Read-only mode: writes are disabled
== SERIALIZATION_ERROR
Converting circular structure to JSON
== CONFIGURATION_ERROR
DATABASE_URL environment variable is not set
Missing environment variable: OPENAI_API_KEY
No API key configured for provider mistral
SMTP host is not configured
environment variable PORT must be set
STRIPE_SECRET is undefined, check your .env
== REQUEST_CANCELLED
The operation was aborted by the user
Request cancelled
AbortError: The user aborted a request.
Job was cancelled by admin
rpc error: code = Canceled desc = context canceled
== INTERNAL_ERROR
Unexpected error
assertion failed: x > 0
null pointer dereference
Cannot read properties of undefined (reading 'map')
undefined is not a function
segmentation fault (core dumped)
panic: runtime error: index out of range [5] with length 3
invariant violated: queue head is behind tail
exit status 1
This should never happen
bug: state not reset
the deployment finished with 3 warnings
kaldns module crashed
TODO
== INVALID_REQUEST
Request failed with status code 410
428 Precondition Required
""",
    "services and traps again": r"""
== NOT_FOUND
GET /v1/charges/ch_9 -> 404: No such charge
{"errors":[{"status":"404","title":"Record missing","detail":"Ticket 88 is not there"}]}
The tracking number you entered does not match any parcel
Dataset `sales.2020` was not found in location EU
error: unable to find local grammar 'forbidden_words'
Branch "timeout-fix" does not exist in repository acme/web
S3 object s3://data/invalid/report.csv does not exist
Playbook 'denied.yml' could not be found
ENOENT: no such file or directory, stat '/srv/app/timeout.cfg'
No lyrics available for this song
Nothing matches your search
We looked everywhere, but there is no booking with that code
Unknown station id 99999
cannot locate package libfoo-dev
== FORBIDDEN
403 Forbidden - GET https://registry.example/pkg - you must be logged in as an owner
GraphQL error: Must have push access to view repository secrets
ACL prevents this client from publishing on topic x
You're not on the guest list for this document
Your subscription does not cover the analytics API
user bob is not in the sudoers file
Only verified accounts may use this endpoint
Editing is restricted to maintainers
refusing to read outside the allowed directories: /etc/passwd
Insufficient rights: project admin needed
This video is private
== UNAUTHORIZED
token "abc" has expired 5 minutes ago
Login required.
Authentication token is missing or malformed
401 Client Error: Unauthorized for url: https://x
FATAL: role login rejected: password authentication failed for user "svc"
The session cookie has been invalidated
oauth2: "invalid_grant" "Token has been expired or revoked."
Could not validate credentials
Please re-authenticate: your refresh token is stale
Invalid API-key, IP, or permissions for action.
Signature mismatch for request signed with key 4
SASL authentication error: bad user or password
== RATE_LIMITED
Quota for 'searches per day' is used up
Try again in 14 minutes; you have been limited
rate_limited: retry after 2.5
You can make at most 3 requests a minute
This client has issued too many calls
429 Client Error
{"code":"TooManyRequests","message":"The server is busy processing your other requests"}
HTTP 420 Enhance Your Calm: request throttled
queue limit of 100 waiting jobs exceeded
Free tier exhausted for this month
== TIMEOUT
Script exceeded the 30 second execution limit
Lambda task timed out after 3.00 seconds
waiting for selector `#main` failed: timeout 30000ms exceeded
no heartbeat from worker for 60s, giving up
gave up after 5 minutes of polling
ReadTimeout: HTTPSConnectionPool(host='x', port=443)
query exceeded maximum time of 10s
Response not received within deadline
stopped waiting for the lock file after 120 s
== SERVICE_UNAVAILABLE
Temporary failure in name resolution
The remote server returned an error: (503) Server Unavailable.
connect ECONNREFUSED 127.0.0.1:11434 - is the model server up?
MongoServerSelectionError: connection <monitor> to 10.1.1.1:27017 closed
Error: network socket disconnected before TLS was established
Upstream answered 502
read: connection reset by peer
Node is not ready: container runtime is down
Peer certificate cannot be authenticated with given CA certificates
the cluster has no elected leader
GitLab is not responding
Sorry, we are having trouble on our end. Please come back later.
Sheets API is unavailable at the moment
Vault is sealed
failed to dial gRPC backend: transport: error while dialing
hostname lookup for cache.internal failed
model is currently loading, estimated_time 20.0
== VALIDATION_ERROR
limit: input should be a valid integer, not 'ten'
`permissions` must be a list
The field "access_denied_message" may not be longer than 200 characters
Parameter 'deadline' must lie in the future
timeout must be between 1 and 300
Unknown argument "retry_limit"
rate limit value '-5' is negative
Expected 3 columns but got 4
two dates are needed
an ISBN has 10 or 13 digits
unsupported language code 'xx-forbidden'
Regex error: nothing to repeat at position 0
The image must be a PNG
cannot convert 'abc' to float
query contains a syntax error near ')'
body.items[2].price: must be positive
No recipients were specified
Invalid unit: 'timeouts'
File too large: 30MB, the maximum is 25MB
SyntaxError in expression: unexpected ')'
(psycopg.errors.NotNullViolation) null value in column "email" violates not-null constraint
FOREIGN KEY constraint failed
== CONFLICT
409 Conflict: resource was changed
Room 12 is booked at that time
cannot delete folder: 3 files are still in it
Your local changes would be overwritten by merge
Another upload of this file is running
Slug "not-found" is taken
the index already exists: products
Invoice 17 has been paid and cannot be edited
IntegrityError: (1062, "Duplicate entry 'bob' for key 'users.name'")
Write rejected: document revision is outdated
the job cannot be started twice
== DATABASE_ERROR
pq: relation "timeouts" does not exist
(sqlite3.OperationalError) no such column: forbidden
Unknown column 'denied' in 'where clause'
ORA-00904: "RATE_LIMIT": invalid identifier
Lost the lock: serialization failure, retry the transaction
psycopg.errors.DeadlockDetected: deadlock detected
could not write to table audit: tablespace is full
SQL compilation error: Object 'X' does not exist or not authorized
== SERIALIZATION_ERROR
response body is not JSON
== CONFIGURATION_ERROR
Missing GITHUB_TOKEN
No model configured: set one in the settings
The settings file has no key 'timeout'
SMTP_HOST must be configured before mail can be sent
== INITIALIZATION_FAILED
Plugin 'weather' failed to initialise
start-up aborted: migrations missing
== REQUEST_CANCELLED
Operation canceled.
the caller cancelled the export
Task was stopped by the user
request aborted: client went away
== INTERNAL_ERROR
list.remove(x): x not in list
Unexpected None
'NoneType' object is not iterable
KeyError: 'access_token'
An unexpected error occurred while processing your request
lambda returned nothing
the renderer produced an empty canvas
NotImplementedError
code path should be unreachable
Unhandled state 7 in parser loop
== INVALID_REQUEST
406 Not Acceptable
HTTP 405: POST is not allowed on this resource
""",
    "odd and terse": r"""
== NOT_FOUND
Could not resolve reference main~5
object 7fd1a60 is missing from the repository
Contact with e-mail eve@x.org is unknown to us
No entries for that keyword
that calendar is gone
You asked for page 9 but there are only 3
docker: Error response from daemon: No such image: foo:latest.
error: pathspec 'x' did not match
Symbol ZZZZ is not listed on NASDAQ
Nobody here by that name
recipe lookup came back empty
{"message":"Unknown Channel","code":10003}
The process with id 331 is no longer there
unable to locate element: {"method":"css selector","selector":"#go"}
no route found for DELETE /v2/things
Artifact build-17 has expired and was purged
DNS record www does not exist in zone x.org
cert for host x not found in store
The timeout policy 'slow' could not be found
== FORBIDDEN
writing here requires the editor role
The operation is prohibited for trial customers
403: your IP is not whitelisted
User must be an owner of the group
cannot modify a system folder
Sorry, that's private
access to /root is off limits
The API has been disabled for this project by its owner
Your plan includes only 2 seats and does not allow guests
Message content blocked by moderation policy
missing grant: SELECT on table invoices
Robots may not crawl this path
operation rejected: policy deny-all matched
Only staff can see drafts
license does not permit commercial use
lacking authority to approve payments
Refused: path escapes the sandbox
== UNAUTHORIZED
We could not verify who you are
No bearer token in the Authorization header
Your password has expired
please supply an API key
The certificate you presented is not known to us; sign in again
wrong code, 2 attempts left
Token lifetime exceeded
API key revoked on 2024-01-02
logged out due to inactivity
missing x-api-key header
OAuth token refresh failed
bot token invalid
unknown API key
the login was not accepted
MFA needed
cookie expired
== RATE_LIMITED
You sent 61 messages in the last minute; the limit is 60
hourly allowance spent
Your request was rate-limited by upstream
cool-down active, wait 3 s
maximum of 5 concurrent jobs
This key may make 10 calls per second
Embedding tokens per minute exceeded
ETOOMANYREQUESTS
We are receiving too many requests from you
only 100 lookups are allowed per day
retry budget exhausted
the mailbox accepts 500 messages per day and you have reached that
== TIMEOUT
No answer after 10 seconds
the page did not finish loading in time
job killed: ran longer than 1h
Deadline of 2s passed
TIMEOUT
browser.close: Timeout 5000ms exceeded.
lock not acquired within 3 seconds
the sensor did not reply for 30 s
compile step exceeded its time budget
Slow response, request dropped after 20s
Future was not completed in time
== SERVICE_UNAVAILABLE
The weather backend is having a bad day
connection to mqtt://hub lost
could not open a socket to the printer
server said: 500
HTTP 502 from gateway
Got 503 back
EHOSTUNREACH
Remote host closed connection during handshake
proxy refused the tunnel
cannot talk to the daemon
elasticsearch is red
All replicas are down
Ollama isn't running on this machine
Name resolution failed for api.x.org
the upstream closed the stream early
browser has disconnected
Docker Desktop is not running
system overloaded
read error on connection
The service crashed while handling the request
websocket closed with code 1006
zookeeper session lost
engine unavailable, model being loaded
the partner API returned garbage status 599
license server cannot be contacted
== VALIDATION_ERROR
Start must be earlier than end
you may pass either 'id' or 'name', not both
x is not a number
1000 is more than the maximum of 500
Illegal character in path at index 3
Only PNG and JPEG are accepted
unknown filter 'foo'
Email looks wrong
no such option: --verbos
IBAN check digits are wrong
country code must have two letters
the amount may not be zero
expected a list, got a string
Search text is too short
'2024-13-01' is no date
unbalanced parenthesis
colour must be given as #rrggbb
latitude is out of range
field "deadline_exceeded" is not allowed in the body
Duplicate ids in the list
subject cannot be empty
limit should be at most 50
this operation needs at least two files
at least one of a, b is needed
too many recipients (max 50)
unknown sort key: size
The query is ambiguous
value 'unauthorized' is not one of 'open', 'closed'
password must have 8 characters
unit not recognised: furlong
the body is not valid against the schema
== CONFLICT
seat 14C was just taken
pull request is already merged
The record has been changed by another user
cannot merge: conflicts in 2 files
file exists: out.txt
the port 8080 is already in use
that nickname is taken
version 4 is stale, current is 5
The order was shipped and can no longer be changed
cannot remove a group that has members
double submission detected
lock held by pid 33
Environment is being updated, wait until it is done
deployment still in progress
Stock is not sufficient
the meeting overlaps with another one
Revision mismatch
two invoices cannot share a number
== DATABASE_ERROR
table users has no column named nick
could not commit the transaction
SQLITE_BUSY: database is locked
FATAL: database "app" does not exist
sqlite: file is encrypted or is not a database
cursor is closed
ERROR 1064 (42000): You have an error in your SQL syntax
query failed: no such function: foo
mongo write failed
migrations have not been run
== SERIALIZATION_ERROR
cannot decode response as UTF-8
reply is not well-formed XML
could not serialise value of type Foo
== CONFIGURATION_ERROR
no credentials for provider x in the config
set OPENWEATHER_KEY before starting
log level setting 'loud' is unknown
the plugin directory is not configured
server.yaml: unknown key
TLS key file missing from settings
== INITIALIZATION_FAILED
server could not start: port in use
initialization of the sandbox failed
unable to launch the browser
== REQUEST_CANCELLED
Stopped by operator
the run was interrupted by the user
Canceled
download aborted by the client
user pressed cancel
== INTERNAL_ERROR
unexpected None in pipeline
something broke
error 17
can't happen: tag 9
failed
NoneType has no len()
plotting produced nothing
math domain error
worker exited with code 1
unhandled exception in thread
object of type 'int' has no len()
an error occurred
invalid state: already running the loop
""",
    "odd and terse again": r"""
== NOT_FOUND
The gist you are trying to open isn't there
No such column family
cannot open shared document: it was moved to the trash
Coupon SPRING25 does not exist
Airport code XQZ not in directory
0 rows found for that id
the asset 'invalid.png' is not in the library
Lookup of parcel 88-1 gave no hits
could not find a matching key for kid=abc
Key error: unknown stop 4411
the namespace kube-foo was not found
== FORBIDDEN
Publishing to this registry is limited to members
cannot read another user's inbox
Your account does not have the feature enabled
Access blocked: app has not completed verification
The bucket policy denies the action
share link is restricted to people in the org
This call needs admin consent
forbidden by robots.txt
You can only edit your own comments
permission to delete is missing
disallowed host header
Feature restricted: contact sales
== UNAUTHORIZED
Not logged in
user could not be authenticated
ticket expired, run kinit
the API key belongs to nobody
Bearer realm="x", error="invalid_token"
401 - bad token
You are signed out, please log in again
Your credentials are not correct
Session not found, please sign in
the secret you sent is wrong
Credentials rejected by the IMAP server
token was issued for another audience
== RATE_LIMITED
Exceeded 30 requests in 60 seconds
throttle: next slot in 4s
Cloudflare error 1015: You are being rate limited
Too Many Requests. Retry-After: 60
request budget for today is gone
your app is making calls too fast
API quota hit
10 of 10 daily exports used
Maximum number of active sessions reached
SMS quota for the number is spent
== TIMEOUT
giving up: lock wait of 50s exceeded
selenium: Timed out receiving message from renderer: 300.000
transcription not finished after 600 s
Request timeout after 3 retries
The connection attempt timed out
no progress for 10 minutes, killed
handler exceeded its deadline
polling ended without result after 30 tries in 60 seconds
The upstream took longer than 15s to reply
== SERVICE_UNAVAILABLE
Bad gateway: no response from app server
Connection to tcp://1.2.3.4:22 refused
can't reach the NAS
no servers could be reached
Search is temporarily down
printer offline
SMTP relay said: 421 service not available
all upstream hosts failed health checks
Internal error at provider, please retry
database server is shutting down
socket.gaierror: [Errno -3] Temporary failure in name resolution
Error communicating with Stripe
The VPN tunnel is down
S3 is degraded in eu-west-1
TLS connection was non-properly terminated
api.x.org: 500
The queue server can't be contacted
== VALIDATION_ERROR
Price must have two decimals
a title is needed
can't parse the time '25:61'
Unknown field names: colour, sizee
no value for 'city'
Choose a shorter name
Bad regular expression
max_tokens is too large: 9000
'format' may only be json or csv
zip code has the wrong length
The two passwords do not match
Body exceeds 1 MB
Negative radius
Page size out of bounds
tags: at most 10 are possible
invalid enum value "timeout" for status
argument 2 must be str, not int
Only https links are supported
The start date is after the end date
mode must be r or w
missing body
== CONFLICT
That name is in use
the build is queued already
index is locked by another process
Edit rejected: someone saved a newer version
cannot drop table: other objects depend on it
Your branch is behind origin/main
a vote from you has been counted already
cannot pause a finished download
If-Match failed
the slot overlaps an existing booking
== DATABASE_ERROR
ERROR: column reference "id" is ambiguous
transaction could not be committed
duckdb: Catalog Error: Table with name t does not exist
replica set has no writable table space
== SERIALIZATION_ERROR
Could not parse the server's answer
failed to unpickle the cached object
Unexpected content type text/html, wanted JSON
== CONFIGURATION_ERROR
Please set ANTHROPIC_API_KEY
config.toml could not be read
no default region set
Twilio is not set up
== INITIALIZATION_FAILED
the worker pool failed to start
cannot initialise GPU backend
== REQUEST_CANCELLED
search cancelled
The prompt was dismissed by the user
AbortSignal fired: aborted
== INTERNAL_ERROR
list assignment index out of range
unexpected state
Oops! That did not work.
object is None
computation diverged
exit code 139
internal assertion
unsupported operand type(s) for +: 'int' and 'str'
""",
    "common services": r"""
== NOT_FOUND
fatal: repository 'https://github.com/acme/none.git/' not found
npm ERR! 404 Not Found - GET https://packages.example.com/nope
Could not find a version that satisfies the requirement foo==9.9
Error: No such object: web_1
error: resource mapping not found for name: "x"
BucketNotFound: bucket does not exist
The table 'projects/x' was not found. Dataset may be in another region.
User with this username could not be found
psql: error: could not find role
No such file or directory (os error 2)
com.acme.UserNotFoundException: user 7
The workspace you requested does not exist or has been archived
object not found in pack
TypeNotFound: no mapping for type 'x'
== FORBIDDEN
remote: Permission to acme/web.git denied to bob.
Error: 403 Resource not accessible by personal access token
AccessDenied: Request has expired or is not allowed
Missing Access
User: arn:aws:iam::1:user/bob is not authorized to perform: s3:ListBucket
Request had insufficient authentication scopes.
storage.objects.create access denied
permission denied for schema private
The user is not allowed to invite members
You have been blocked from posting
cross-origin requests are not permitted
Team admins only
security policy violation: script blocked
== UNAUTHORIZED
fatal: Authentication failed for 'https://x'
npm ERR! code E401
Error: You must be logged in to the server (Unauthorized)
Invalid authentication credentials
Incorrect username or password
Error 401: The OAuth client was deleted
invalid_request: the access grant is invalid, expired or revoked
Requires authentication
Not authenticated: provide a token
mutual TLS client certificate required
Error validating access token: Session has expired on Monday
Wrong email or password
API key expired. Please renew the API key.
== RATE_LIMITED
You have exceeded a secondary rate limit.
Rate limit reached for gpt-4 in organization org-x on tokens per min
error 429: Too Many Requests
User rate limit exceeded. Retry after 2024-01-01T00:00:00Z
toomanyrequests: You have reached your pull rate limit.
Application request limit reached
Exceeded maximum number of allowed requests
You are being rate limited.
Call limit exceeded for this hour
Reduce your request rate.
== TIMEOUT
Error: Timeout of 2000ms exceeded.
net/http: request canceled (Client.Timeout exceeded while awaiting headers)
i/o timeout
operation timed out
504 Gateway Timeout
deadline_exceeded
TimeoutError: Waiting failed: 30000ms exceeded
Statement cancelled due to timeout
The request timed out. Please try again.
Query exceeded the maximum execution time of 30000 ms
The wait operation timed out
== SERVICE_UNAVAILABLE
Error: connect ECONNREFUSED ::1:3000
The service is temporarily overloaded
502 Proxy Error
The server is currently unable to handle the request
getaddrinfo ENOTFOUND api.acme.dev
No healthy backends
upstream prematurely closed connection
Error: 14 UNAVAILABLE: failed to connect to all addresses
unable to verify the first certificate
ERR_TUNNEL_CONNECTION_FAILED
Server Error (500)
We're sorry, but something went wrong on our side
read ECONNRESET
Broker: Leader not available
Connection pool is closed
Service Unavailable - Zero size object
Failed to establish a new connection: [Errno 113] No route to host
== VALIDATION_ERROR
Invalid input: expected string, received undefined
"start" should be a timestamp
400 Bad Request: missing field `name`
Request body is too large
Expected object, received array
Malformed policy document
The parameter 'q' is required.
Invalid phone number
name: Ensure this field has no more than 50 characters.
This field may not be null.
Value must be one of 'asc', 'desc'
the given data was invalid
Unprocessable Entity
Cannot parse "abc" as a date
invalid literal for int() with base 10: 'x'
INVALID_ARGUMENT: contents is not specified
The content you provided is too long
== CONFLICT
error: failed to push some refs (non-fast-forward)
Conflict: container name "/web" is already in use
Operation cannot be fulfilled: apply the changes to the latest version
Resource is locked by another operation
user already exists
Pull Request is not mergeable
AlreadyExists: table
duplicate entry for key
cannot be deleted because it is referenced by other resources
== DATABASE_ERROR
ERROR: deadlock detected (SQLSTATE 40P01)
ERROR: relation "x" does not exist (SQLSTATE 42P01)
no such column: name
Error 1146 (42S02): Table 'shop.x' doesn't exist
SQLITE_ERROR: near "FRM": syntax error
transaction has been rolled back
== SERIALIZATION_ERROR
unmarshal error: cannot unmarshal string into Go struct field
== CONFIGURATION_ERROR
The OPENAI_API_KEY environment variable is missing or empty
Missing required environment variables: DB_HOST, DB_USER
Invalid configuration: unknown driver 'x'
could not load config file /etc/x.yml
== REQUEST_CANCELLED
The operation was canceled.
DOMException: The user aborted a request.
Run cancelled by user
Error: 1 CANCELLED: Cancelled on client
== INTERNAL_ERROR
TypeError: Cannot read property 'id' of undefined
ReferenceError: x is not defined
KeyError: 'name'
IndexError: list index out of range
AttributeError: 'NoneType' object has no attribute 'get'
java.lang.NullPointerException
runtime error: invalid memory address or nil pointer dereference
An unknown error occurred.
division by zero
""",
    "common services again": r"""
== NOT_FOUND
Record to update not found.
The repository does not exist.
Invalid object: no such branch 'dev'
Page /wiki/Foo does not exist on this wiki
Could not find chromium
404: Model 'llama9' not found, try pulling it first
Card not found in any deck
No available data for ticker XYZ
The requested entity was not found.
No such index [products]
There is no function named 'foo'
ResourceNotFound: secret db/pass
The collection my_docs doesn't exist!
Unable to find image 'foo:latest' locally
subscription does not exist
Team id 7 unknown
== FORBIDDEN
ERROR: permission denied for table users
User does not have permission to access this resource
(#200) Requires pages_manage_posts permission
restricted_action
EACCES: permission denied, mkdir '/app'
403 You do not have access to this organization
Action not permitted in the current plan
Your account is not authorized for this endpoint
OAuth app access restrictions are enabled
Operation denied by policy engine
account_suspended
The API Key doesn't have permissions to perform the request
IAM role cannot be assumed: access is denied
== UNAUTHORIZED
Invalid API key · Please run /login
(#190) Error validating access token
Your authentication token has expired. Please log in again.
401 Unauthorized: incorrect API key
no valid session
Unable to authenticate with provider
Access token is invalid
The provided API key is not valid
login credentials are incorrect
You must provide an API key
Client credentials are invalid
wrong_password
== RATE_LIMITED
Rate limit exceeded: 15 requests per 15 minutes
You've reached your usage limit
quota_exceeded
(#4) Application request limit reached
Throttled due to too many requests
Too many login attempts. Try again in 5 minutes.
Over quota
The rate limit for this endpoint has been hit
Maximum request rate exceeded
Requests to the API have exceeded rate limit of your pricing tier
daily quota reached for search
== TIMEOUT
Error: ETIMEDOUT
The request timed out while waiting for the server
page.goto: Timeout 30000ms exceeded.
Gateway Timeout
Task timed out
ConnectTimeoutError: Connect Timeout Error
connection timed out after 5s
Function execution took too long
upstream timed out (110: Connection timed out) while reading response header
context deadline exceeded
Server timed out
query timed out
== SERVICE_UNAVAILABLE
The backend returned a 503 error
FetchError: request to http://x failed, reason: connect ECONNREFUSED
Connection closed unexpectedly
Database connection failed
could not connect to server: Connection refused
server closed the connection unexpectedly
Remote end closed connection without response
Host is down
Error connecting to Redis
overloaded_error: Overloaded
server_error: The server had an error while processing your request
Bad Gateway
internal_error from upstream
Ollama server not responding
HTTP 500: Internal Server Error
all nodes failed to respond
== VALIDATION_ERROR
invalid_arguments
Invalid value for 'limit'
The value provided is not a valid integer
'abc' is not of type 'integer'
Required parameter missing: q
missing_text_or_fallback_or_attachments
Invalid request: unknown field 'x'
msg_too_long
String should match pattern '^[a-z]+$'
Input is too long for requested model.
invalid email address
The 'from' date must be earlier than the 'to' date
Unsupported currency: XXX
File type not allowed
image exceeds 5 MB maximum
Number of items must be between 1 and 10
amount must be greater than 0
body failed validation: body.title should be defined
temperature must be <= 2
invalid query syntax
== CONFLICT
already_in_channel
version conflict, document already exists
The resource has been modified since it was read
409 Conflict
Unique constraint failed on the fields: (`email`)
user is already a member
The branch already exists
Object is being used by another process
Duplicate key
another operation is in progress
Cannot delete or update a parent row: it is in use
== DATABASE_ERROR
Lock wait timeout exceeded
no such table: users
deadlock found when trying to get lock
syntax error at or near "SELEC"
== SERIALIZATION_ERROR
Invalid JSON
JSON parse error: unexpected end of input
Could not decode response
Object of type Decimal is not JSON serializable
== CONFIGURATION_ERROR
API key not configured
Environment variable X is not set
configuration file not found
Missing configuration: database url
== REQUEST_CANCELLED
request cancelled
Operation aborted
The user cancelled the operation
Aborted by user
== INTERNAL_ERROR
Internal assertion failed
unknown error
Cannot read properties of null
unexpected end of function
""",
    "terse once more": r"""
== NOT_FOUND
Repository access blocked or repository missing: acme/x
no such device: cuda:3
We couldn't find that page
Unknown command: foo
No row with primary key 17
Requested range not on file server
Element not found in DOM
Email thread 18c9 could not be located in the mailbox
there's no meeting with that code
No definition for word 'qwzx'
Zero documents matched
The Lambda function my-fn has been deleted
profile 'staging' doesn't exist
invoice INV-9 not on record
== FORBIDDEN
Your IP address has been blocked
this endpoint is for internal use only
user lacks privilege or object not found
Insufficient privileges to operate on schema 'PUBLIC'
viewers cannot edit
The author has restricted replies
organization requires SSO approval for this app
Publishing blocked: domain not verified by owner
write scope is missing
Not permitted: sandbox mode
You must be a moderator to pin messages
Enterprise plan required
== UNAUTHORIZED
Login expired
Wrong PIN
Sign-in required
the request lacks an Authorization header
username/password mismatch
your API token was not recognized
credentials have expired; run aws sso login
client secret expired
unable to verify token signature
JWT not active
account locked after 5 failed logins
authentication handshake rejected
== RATE_LIMITED
Only 3 uploads per hour are possible
exceeded the allowed number of requests
Please wait before making another request
Rate limiter: bucket empty
You are out of API calls for this month
limit: 100/day reached
concurrent request limit reached
request denied: QPS too high
Too many active streams for this key
server is throttling this client
== TIMEOUT
no data received for 90 seconds
Command timed out after 120s: make test
Deadline expired before operation could complete.
Response took too long
Inactivity timeout
job exceeded wall time
SSH handshake timed out
the model did not answer within a minute
watch expired without events after 60 s
== SERVICE_UNAVAILABLE
Node 3 is offline
backend returned 5xx
cannot open connection to broker
Tunnel closed by peer
Maintenance window until 04:00
the license daemon died
Host unreachable: 10.0.0.9
Lost heartbeat from leader
TLS handshake with api.x.org failed
Our provider is experiencing an outage
name lookup failed for db01
No response from server
Storage backend unavailable
error 503 from upstream
connection was forcibly closed by the remote host
cluster has no quorum
unexpected response code 502
could not send request: broken pipe
== VALIDATION_ERROR
Year must be 4 digits
'maybe' is not a boolean
x and y must have the same length
bad cursor
Unknown enum value PURPLE
two positional arguments expected
The URL has no host
latitude 95 is invalid
start > end
Attachment too big
Template contains unknown variable {{x}}
column 'price' must be numeric
please choose a future date
sum of weights must be 1
empty query
regex does not compile: missing )
cannot subtract a string from a date
name contains forbidden characters
No fields to update
max_results must not exceed 100
== CONFLICT
Someone else is editing this page
a branch with that name exists
Instance is not in a state from which it can be started
cannot archive: open items remain
The username is unavailable
migration already applied
version 7 expected but 8 found
Ticket is closed and cannot be reopened
file has been modified on disk since it was opened
duplicate order number
reservation collides with another
== DATABASE_ERROR
invalid column name 'foo'
relation "x" already has a row lock held by another transaction
Index corruption detected in table t
write to primary failed: not enough replicas acknowledged
unrecognized SQL keyword
error executing query: ambiguous column
== SERIALIZATION_ERROR
Failed to deserialize message
the response was not valid JSON
malformed response from provider
== CONFIGURATION_ERROR
No SMTP server configured
SLACK_TOKEN missing
bad config: port is not a number
The 'url' setting is required
provider 'x' is not configured for this server
== INITIALIZATION_FAILED
failed to load plugin 'maps'
Server initialization error
== REQUEST_CANCELLED
The request has been cancelled
cancelled while waiting for approval
Interrupted by user (Ctrl-C)
== INTERNAL_ERROR
Unknown failure
result is inconsistent
The tool crashed
exception in callback
must call setup() first
stack overflow
""",
    "names that trap": r"""
== NOT_FOUND
The file 'conflict.txt' does not exist
Could not find stored procedure 'dbo.x'.
Nothing to show for timeout-report-2024
The specified queue does not exist.
No resource found with identifier "denied"
cannot find user "validation"
Container "forbidden-city" not found
Document with id 'rate_limit' not found
API endpoint not found
No such process
The image you are looking for does not exist
== FORBIDDEN
Access is denied.
not allowed to access this channel
The user lacks the required permission: invoice.read
Write permission is required on project 'not-found'
forbidden: User "system:anonymous" cannot get path "/api"
request blocked by firewall
Modification of system tables is prohibited
Your role does not permit this action
== UNAUTHORIZED
Unauthorized: token 'missing-file' is invalid
token has been revoked
Please authenticate first
Invalid or missing API token
invalid bearer token
The user name or password is incorrect
Session expired
OAuth token expired
Authorization header is missing
== RATE_LIMITED
Rate limit hit for tool 'not-found-checker'
Quota exceeded
429 - slow down
Retry later: too many requests
API rate limit reached
Request quota has been used up
maximum number of API calls reached for today
== TIMEOUT
Timed out waiting for lock
The operation has timed out.
gateway timeout
Timeout while fetching https://x/invalid
request took too long to complete
deadline exceeded while calling 'create_duplicate'
connection timeout
== SERVICE_UNAVAILABLE
Failed to connect to server
Connection reset by peer
The upstream service returned 500
DNS lookup failed for host 'validation.example'
service is down for maintenance
Could not connect to database
SSL handshake failed
Certificate has expired
network error
Unable to reach the weather API
server is busy, please retry
API is currently offline
== VALIDATION_ERROR
Invalid date format
Field 'not_found' is required
value out of range
limit must be positive
Unsupported language: klingon
'timeout' must be an integer
Expected a number but got 'cancelled'
missing required parameter: query
The query string is too long
title may not contain 'forbidden'
Unknown argument: --rate-limit
Invalid JSON schema for tool input
cannot be empty
Amount must not exceed 1000
== CONFLICT
Duplicate name
project "timeout" already exists
resource conflict
The document was updated in the meantime
lock is already held
Cannot delete: still in use
record has been modified by another process
== DATABASE_ERROR
no such column: timeout
relation "permissions" does not exist
deadlock
table "not_found" doesn't exist
could not write to the database
database error
SQL error: syntax
== SERIALIZATION_ERROR
failed to parse response
invalid JSON
could not deserialize object
malformed XML
== CONFIGURATION_ERROR
missing environment variable FOO_TOKEN
API key is not configured
invalid configuration
Config error: 'timeout' not set
environment variable DATABASE_URL not found
== INITIALIZATION_FAILED
initialization failed
== REQUEST_CANCELLED
operation cancelled
aborted
The task was cancelled by the user
== INTERNAL_ERROR
kaldns handler crashed
validationless mode entered
Something unexpected happened
The timeouts module is not one of ours
an internal error occurred
assertion error
it is not clear what we are allowed to conclude from this, not that it matters
forbiddenness score was 3
connectionist model diverged
notfoundland
""",
    "names of services' errors": r"""
== SERVICE_UNAVAILABLE
The remote name could not be resolved: 'api.x.org'
The SSL connection could not be established, see inner exception.
Host key verification failed.
Back-off pulling image: ImagePullBackOff
MongoNetworkError: connect ECONNREFUSED
LOADING Redis is loading the dataset in memory
Overloaded
== REQUEST_CANCELLED
A task was canceled.
== INTERNAL_ERROR
Object reference not set to an instance of an object.
undefined method `foo' for nil:NilClass
== TIMEOUT
Net::ReadTimeout with #<TCPSocket:(closed)>
ssh: connect to host 10.0.0.5 port 22: Connection timed out
== NOT_FOUND
E: Unable to locate package foo
Not found: Table proj:ds.t was not found in location US
ENTITY_IS_DELETED: entity is deleted
object_not_found
404 Not Found (error code: 10003): Unknown Channel
Bad Request: chat not found
Player command failed: No active device found
ZERO_RESULTS
city not found
No commit found for SHA: abc123
Branch not found
pods "x" not found
org.apache.kafka.common.errors.UnknownTopicOrPartitionException
index_not_found_exception: no such index [logs]
auth/user-not-found
storage/object-not-found
model: claude-9
No such payment_intent: 'pi_1'
== UNAUTHORIZED
git@github.com: Permission denied (publickey).
ldap_bind: Invalid credentials (49)
535 5.7.8 Authentication failed
INVALID_SESSION_ID: Session expired or invalid
Could not authenticate you.
MongoServerError: Authentication failed.
NOAUTH Authentication required.
auth/id-token-expired
auth/wrong-password
invalid x-api-key
== RATE_LIMITED
Exceeded rate limits: too many api requests per user per method
REQUEST_LIMIT_EXCEEDED: TotalRequests Limit exceeded.
rate_limited
Too Many Requests: retry after 35
OVER_QUERY_LIMIT
auth/too-many-requests
You exceeded your current quota
== VALIDATION_ERROR
INVALID_FIELD: No such column 'Foo__c' on entity 'Account'
REQUIRED_FIELD_MISSING: Required fields are missing: [Name]
STRING_TOO_LONG: Name: data value too large
validation_error
Cannot read image.png: unsupported pixel format
spec.containers: Required value
MongoServerError: Document failed validation
messages: roles must alternate between "user" and "assistant"
Amount must be at least $0.50 usd
The zip code you provided failed validation.
== CONFLICT
conflict_error
Interaction has already been acknowledged.
Reference already exists
Merge conflict
persistentvolumeclaims "x" already exists
object is being deleted: namespaces "x" already exists
Bind for 0.0.0.0:80 failed: port is already allocated
MongoServerError: E11000 duplicate key error
auth/email-already-in-use
This PaymentIntent's status does not allow it to be captured
== FORBIDDEN
restricted_resource
403 Forbidden (error code: 50013): Missing Permissions
Forbidden: bot was blocked by the user
Player command failed: Premium required
REQUEST_DENIED
billing account is not active
Must have admin rights to Repository.
secrets is forbidden: User "bob" cannot list resource "secrets"
PERMISSION_DENIED: Missing or insufficient permissions.
== CONFIGURATION_ERROR
No valid credential sources found
""",
    "exceptions as text": r"""
== SERVICE_UNAVAILABLE
Error: getaddrinfo EAI_AGAIN redis
redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.
sqlalchemy.exc.OperationalError: (psycopg2.OperationalError) could not connect to server: Connection refused
requests.exceptions.SSLError: certificate verify failed
anthropic.InternalServerError: Error code: 529 - {'type': 'error', 'error': {'type': 'overloaded_error'}}
grpc._channel._InactiveRpcError: StatusCode.UNAVAILABLE failed to connect to all addresses
pymongo.errors.ServerSelectionTimeoutError: localhost:27017: [Errno 111] Connection refused
ConnectionResetError: [Errno 104] Connection reset by peer
socket.gaierror: [Errno -2] Name or service not known
aiohttp.client_exceptions.ClientConnectorError: Cannot connect to host x:443 ssl:default
httpx.ConnectError: All connection attempts failed
urllib3.exceptions.MaxRetryError: Max retries exceeded with url: / (Caused by NewConnectionError: Connection refused)
docker.errors.DockerException: Error while fetching server API version: Connection refused
paramiko.ssh_exception.NoValidConnectionsError: Unable to connect to port 22 on 10.0.0.1
smtplib.SMTPServerDisconnected: Connection unexpectedly closed
websockets.exceptions.ConnectionClosedError: no close frame received or sent
== DATABASE_ERROR
sqlite3.OperationalError: database is locked
pymysql.err.ProgrammingError: (1146, "Table 'a.b' doesn't exist")
asyncpg.exceptions.UndefinedTableError: relation "x" does not exist
duckdb.CatalogException: Catalog Error: Table with name x does not exist!
== CONFLICT
sqlite3.IntegrityError: UNIQUE constraint failed: users.email
django.db.utils.IntegrityError: duplicate key value violates unique constraint "u"
asyncpg.exceptions.UniqueViolationError: duplicate key value
kubernetes.client.exceptions.ApiException: (409) Reason: Conflict
== VALIDATION_ERROR
sqlite3.IntegrityError: NOT NULL constraint failed: users.name
ValidationError: 'x' is not one of ['a', 'b']
ValueError: invalid literal for int() with base 10: 'a'
pydantic_core._pydantic_core.ValidationError: 1 validation error for M
422 {"message": "Validation Failed"}
jsonschema.exceptions.ValidationError: 'a' is a required property
== TIMEOUT
requests.exceptions.ReadTimeout: HTTPConnectionPool(host='x', port=80): Read timed out.
StatusCode.DEADLINE_EXCEEDED
asyncio.exceptions.TimeoutError
httpx.ReadTimeout
subprocess.TimeoutExpired: Command 'x' timed out after 5 seconds
selenium.common.exceptions.TimeoutException: Message:
== NOT_FOUND
botocore.errorfactory.NoSuchKey: The specified key does not exist.
google.api_core.exceptions.NotFound: 404 Dataset x:y was not found
azure.core.exceptions.ResourceNotFoundError: The specified blob does not exist. ErrorCode:BlobNotFound
elasticsearch.NotFoundError: NotFoundError(404, 'index_not_found_exception')
FileNotFoundError: [Errno 2] No such file or directory: 'a'
kubernetes.client.exceptions.ApiException: (404) Reason: Not Found
docker.errors.ImageNotFound: 404 Client Error: Not Found
404 {"message": "Not Found", "documentation_url": "https://docs"}
The server responded with: {'ok': False, 'error': 'channel_not_found'}
== FORBIDDEN
botocore.exceptions.ClientError: An error occurred (AccessDenied) when calling the GetObject operation: Access Denied
google.api_core.exceptions.Forbidden: 403 POST https://x: Access Denied
PermissionError: [Errno 13] Permission denied: '/x'
stripe.error.PermissionError: not allowed
github.GithubException.GithubException: 403 {"message": "Resource not accessible by integration"}
== RATE_LIMITED
openai.RateLimitError: Error code: 429 - {'error': {'message': 'Rate limit reached'}}
tweepy.errors.TooManyRequests: 429 Too Many Requests
slack_sdk.errors.SlackApiError: The server responded with: {'ok': False, 'error': 'ratelimited'}
== UNAUTHORIZED
openai.AuthenticationError: Error code: 401 - {'error': {'code': 'invalid_api_key'}}
azure.core.exceptions.ClientAuthenticationError: invalid client secret
jwt.exceptions.ExpiredSignatureError: Signature has expired
pymysql.err.OperationalError: (1045, "Access denied for user 'root'@'localhost'")
401 {"message": "Bad credentials"}
The server responded with: {'ok': False, 'error': 'invalid_auth'}
paramiko.ssh_exception.AuthenticationException: Authentication failed.
imaplib.IMAP4.error: [AUTHENTICATIONFAILED] Invalid credentials
== INTERNAL_ERROR
TypeError: unsupported operand type(s) for +: 'int' and 'str'
ZeroDivisionError: division by zero
RecursionError: maximum recursion depth exceeded
subprocess.CalledProcessError: Command 'x' returned non-zero exit status 1.
== REQUEST_CANCELLED
asyncio.exceptions.CancelledError
concurrent.futures._base.CancelledError
== SERIALIZATION_ERROR
UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte
""",
    "exceptions of other languages": r"""
== NOT_FOUND
java.io.FileNotFoundException: /tmp/x (No such file or directory)
java.util.NoSuchElementException: No value present
javax.persistence.EntityNotFoundException: Unable to find com.acme.User with id 7
System.IO.FileNotFoundException: Could not find file 'C:\x.txt'.
open /etc/x.conf: no such file or directory
sql: no rows in result set
record not found
Error: ENOENT: no such file or directory, scandir 'x'
ActiveRecord::RecordNotFound: Couldn't find User with 'id'=7
Illuminate\Database\Eloquent\ModelNotFoundException: No query results for model [App\User] 7
== INTERNAL_ERROR
java.lang.IllegalStateException: Duplicate key
java.lang.OutOfMemoryError: Java heap space
System.NullReferenceException: Object reference not set to an instance of an object.
runtime error: slice bounds out of range [5:3]
RangeError: Maximum call stack size exceeded
== VALIDATION_ERROR
java.lang.IllegalArgumentException: name must not be null
java.lang.NumberFormatException: For input string: "abc"
System.FormatException: Input string was not in a correct format.
strconv.Atoi: parsing "abc": invalid syntax
ZodError: [{"code":"invalid_type","path":["a"],"message":"Required"}]
PrismaClientKnownRequestError: Foreign key constraint failed on the field: `userId`
CastError: Cast to ObjectId failed for value "x"
ActiveRecord::RecordInvalid: Validation failed: Name can't be blank
Illuminate\Validation\ValidationException: The given data was invalid.
== SERVICE_UNAVAILABLE
java.net.UnknownHostException: api.x.org
javax.net.ssl.SSLHandshakeException: PKIX path building failed
System.Net.Sockets.SocketException: No connection could be made because the target machine actively refused it
System.Net.Http.HttpRequestException: No such host is known.
dial tcp: lookup x.org: no such host
Get "http://x": EOF
connect: network is unreachable
write tcp 10.0.0.1:5->10.0.0.2:80: write: broken pipe
AxiosError: Network Error
PrismaClientInitializationError: Can't reach database server at `localhost:5432`
SequelizeConnectionRefusedError: connect ECONNREFUSED
Faraday::ConnectionFailed: Connection refused
== TIMEOUT
java.util.concurrent.TimeoutException
System.TimeoutException: The operation has timed out.
Get "http://x": context deadline exceeded
AxiosError: timeout of 1000ms exceeded
Faraday::TimeoutError: execution expired
== REQUEST_CANCELLED
java.util.concurrent.CancellationException
System.OperationCanceledException: The operation was canceled.
Post "http://x": context canceled
== DATABASE_ERROR
org.postgresql.util.PSQLException: ERROR: relation "x" does not exist
Microsoft.Data.SqlClient.SqlException: Invalid object name 'dbo.X'.
sql: transaction has already been committed or rolled back
SequelizeDatabaseError: relation "x" does not exist
ActiveRecord::StatementInvalid: PG::UndefinedTable
== CONFLICT
com.mysql.cj.jdbc.exceptions.MySQLIntegrityConstraintViolationException: Duplicate entry
org.hibernate.StaleObjectStateException: Row was updated or deleted by another transaction
Microsoft.EntityFrameworkCore.DbUpdateConcurrencyException: expected to affect 1 row(s), but actually affected 0
pq: duplicate key value violates unique constraint
Error: EEXIST: file already exists, mkdir 'x'
PrismaClientKnownRequestError: Unique constraint failed on the fields: (`id`)
SequelizeUniqueConstraintError: Validation error
ActiveRecord::RecordNotUnique: duplicate key
ActiveRecord::StaleObjectError: Attempted to update a stale object
== FORBIDDEN
org.springframework.security.access.AccessDeniedException: Access is denied
System.UnauthorizedAccessException: Access to the path 'C:\x' is denied.
open /root/x: permission denied
Error: EACCES: permission denied, access '/usr/lib'
Illuminate\Auth\Access\AuthorizationException: This action is unauthorized.
== UNAUTHORIZED
org.springframework.security.authentication.BadCredentialsException: Bad credentials
TokenExpiredError: jwt expired
JsonWebTokenError: invalid signature
Illuminate\Auth\AuthenticationException: Unauthenticated.
== SERIALIZATION_ERROR
com.fasterxml.jackson.databind.exc.MismatchedInputException: Cannot deserialize value
== RATE_LIMITED
AxiosError: Request failed with status code 429
Illuminate\Http\Exceptions\ThrottleRequestsException: Too Many Attempts.
""",
}

for _label, _sentence in (pair for helping in HELPINGS.values() for pair in listed(helping)):
    # A plain error of either kind, by turns.
    says(CASES, _label, _sentence, kind=RuntimeError if len(_sentence) % 2 else Exception)
