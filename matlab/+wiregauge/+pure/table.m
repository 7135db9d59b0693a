function table(results, varargin)
%TABLE  Print measurements as the paper does: RTT, jitter, max3, TRT and throughput for each R.
%   wiregauge.pure.table(results) prints a line for each result of wiregauge.pure.measure or wiregauge.pure.compare. The gain is
%   the TRT of the smallest R with the same sizes, divided by this one.
%
%   Example:
%     connection = wiregauge.pure.connect('tcp://127.0.0.1:7700');
%     wiregauge.pure.table(wiregauge.pure.measure(connection, 'Count', 50))

wiregauge.internal.given(nargin, 1, 1, 'wiregauge.pure.table(wiregauge.pure.measure(connection))');
wiregauge.internal.results(results);
fprintf('%3s %7s %9s %9s %9s %9s %10s %6s %6s\n', 'R', 'IN B', 'RTT ms', 'SD ms', 'max3 ms', 'TRT ms', 'IN kB/s', 'gain', 'wrong');
for k = 1:numel(results)
    one = results(k);
    alike = find([results.in] == one.in & [results.out] == one.out);
    [~, least] = min([results(alike).queue]);
    gain = results(alike(least)).trt_mean_ns / one.trt_mean_ns;
    fprintf('%3d %7d %9.3f %9.3f %9.3f %9.3f %10.1f %6.2f %6d\n', one.queue, one.in, one.mean_ns / 1e6, one.sd_ns / 1e6, ...
        one.max3_ns / 1e6, one.trt_mean_ns / 1e6, one.in_bytes_s / 1e3, gain, one.wrong);
end
fprintf('R: requests queued beyond the one being served; max3: third-largest RTT\n');
end
