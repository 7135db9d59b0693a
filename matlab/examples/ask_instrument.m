function volts = ask_instrument(address)
%ASK_INSTRUMENT  Query the identity of an instrument, then measure how long a reading takes.
%   volts = ask_instrument('tcp://10.0.0.7:5025') needs an instrument with SCPI, or: wiregauge serve tcp://127.0.0.1:5025
%   --protocol scpi

meter = wiregauge.open(address, 'Protocol', 'scpi', 'Timeout', 5);
tidy = onCleanup(@() meter.close());
fprintf('%s\n', meter.query('*IDN?'));
count = 20;
volts = zeros(1, count);
times = zeros(1, count);
for k = 1:count
    [reply, timing] = meter.query('MEAS:VOLT?');
    volts(k) = str2double(reply);
    times(k) = double(timing.rtt_ns) / 1e6;
end
fprintf('%d readings, median %.3f ms, longest %.3f ms\n', count, median(times), max(times));
end
