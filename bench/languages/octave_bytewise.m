% The trap: the answer is read byte by byte, a call for each. octave_case.m has the form.

addpath(fileparts(mfilename('fullpath')));
[given, report] = octave_case('octave byte-wise');
connection = wiregauge.pure.connect(given.address);
wiregauge.pure.hello(connection);
requests = wiregauge.pure.encode(0:given.count, given.out, given.in)';
answer = zeros(1, given.in, 'uint8');
rtt = zeros(1, given.count);
write(connection, requests(1, :), 'uint8');
read(connection, given.in, 'uint8');
begun = tic;
for k = 1:given.count
    start = tic;
    write(connection, requests(k + 1, :), 'uint8');
    for n = 1:given.in
        answer(n) = read(connection, 1, 'uint8');
    end
    rtt(k) = toc(start);
end
seconds = toc(begun);
fields = wiregauge.pure.decode(answer');
assert(fields.valid && fields.sequence == given.count);
report(seconds, rtt * 1e9);
