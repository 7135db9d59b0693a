function result = measure(connection, varargin)
%MEASURE  Exchange requests and responses with R requests queued ahead, in plain M-code.
%   result = wiregauge.pure.measure(connection, 'In', 1000, 'Queue', 3) runs exchanges over a tcpclient or serialport (see
%   wiregauge.pure.connect) and keeps R = 3 requests queued beyond the one that is being served, after Augustyn and Tutaj.
%   The device finds its next request waiting, and need not wait for this program.
%
%   Options: 'Out' (16), 'In' (48): bytes of a request and a response, headers included; 'Count' (1000) exchanges; 'Queue'
%   (0): R, which is one less than wiregauge's depth; 'Protocol' ('wiregauge' or 'echo').
%
%   result has: rtt_ns, start_ns (1-by-Count), trt_ns (Count - Queue - 1); first_ns, the RTT of a first exchange, alone and kept apart;
%   wrong, the number of responses with a wrong byte; and figures of them: see wiregauge.pure.figures. The clock is that of tic
%   and toc, which is the system's time of day in Octave: a change of it in between would show.
%
%   Example:
%     connection = wiregauge.pure.connect('tcp://127.0.0.1:7700');
%     result = wiregauge.pure.measure(connection, 'In', 1000, 'Count', 100, 'Queue', 3);
%     trt = result.trt_mean_ns / 1e3                      % in us
%
%   Errors: wiregauge:timeout if a response did not come within the connection's Timeout, wiregauge:argument.

wiregauge.internal.given(nargin, 1, Inf, ...
    'result = wiregauge.pure.measure(wiregauge.pure.connect(''tcp://127.0.0.1:7700''), ''Count'', 100)');
wiregauge.internal.connection(connection);
options = wiregauge.internal.pairs(varargin, struct('Out', 16, 'In', 48, 'Count', 1000, 'Queue', 0, 'Protocol', 'wiregauge'));
echo = strcmp(options.Protocol, 'echo');
if ~echo && ~strcmp(options.Protocol, 'wiregauge')
    wiregauge.internal.fail('wiregauge:argument', 'Protocol must be ''wiregauge'' or ''echo''');
end
wiregauge.internal.whole('Out', options.Out, 1, Inf);
wiregauge.internal.whole('In', options.In, 1, Inf);
wiregauge.internal.whole('Count', options.Count, 1, Inf);
wiregauge.internal.whole('Queue', options.Queue, 0, Inf);
if echo
    options.In = options.Out;
elseif options.In < 32
    wiregauge.internal.fail('wiregauge:argument', 'a response of the wiregauge protocol has at least 32 bytes, not %g', options.In);
end

% All that can be made beforehand is: an M-file pays for each statement in the loop.
count = options.Count;
bytes = options.In;
if echo
    requests = wiregauge.pure.pattern(0:count, options.Out)';
else
    requests = wiregauge.pure.encode(0:count, options.Out, bytes)';
end
responses = zeros(count, bytes, 'uint8');
start = zeros(1, count);
finish = zeros(1, count);
outstanding = min(options.Queue + 1, count);

started = tic;
write(connection, requests(1, :), 'uint8');
answer = read(connection, bytes, 'uint8');
first = toc(started);
complete(answer, bytes, 0);
firstAnswer = uint8(answer(:));
for k = 1:outstanding
    start(k) = toc(started);
    write(connection, requests(k + 1, :), 'uint8');
end
for k = 1:count
    answer = read(connection, bytes, 'uint8'); % All of it in one call: byte by byte costs a call for each.
    finish(k) = toc(started);
    complete(answer, bytes, k);
    responses(k, :) = answer;
    next = k + outstanding;
    if next <= count
        start(next) = toc(started);
        write(connection, requests(next + 1, :), 'uint8');
    end
end

result.protocol = options.Protocol;
result.out = options.Out;
result.in = bytes;
result.queue = options.Queue;
result.start_ns = round(start * 1e9);
result.rtt_ns = round((finish - start) * 1e9);
result.trt_ns = diff(result.start_ns(outstanding:end)); % Those before begin without a response.
result.first_ns = round(first * 1e9);
result.elapsed_ns = round((finish(end) - start(1)) * 1e9);
result.wrong = wrong([firstAnswer, responses'], echo, bytes);
result = wiregauge.pure.figures(result);
end

function complete(answer, bytes, k)
if numel(answer) < bytes
    wiregauge.internal.fail('wiregauge:timeout', 'exchange %d: timeout after %d of %d bytes', k, numel(answer), bytes);
end
end

function count = wrong(responses, echo, bytes)
% Looked at after the loop, all at once.
sequence = 0:size(responses, 2) - 1;
if echo
    count = sum(any(responses ~= wiregauge.pure.pattern(sequence, bytes), 1));
    return
end
headers = wiregauge.pure.decode(responses);
right = headers.valid & headers.kind == 1 & headers.status == 0 & headers.flags == 0 & ...
    headers.sequence == sequence & headers.in_payload == bytes - 32;
payload = responses(33:end, :) == wiregauge.pure.pattern(sequence, bytes - 32);
count = sum(~(right & all(payload, 1)));
end
