function result = figures(result, varargin)
%FIGURES  Add the literature's figures to a measurement: mean, SD, max3, TRT, throughput.
%   result = wiregauge.pure.figures(result) adds, of the RTT and in nanoseconds: mean_ns, sd_ns (the jitter), p50_ns, p99_ns, max_ns,
%   max3_ns (the third-longest: the maximum without the two worst accidents); trt_mean_ns; and in_bytes_s, out_bytes_s.
%
%   Example:
%     connection = wiregauge.pure.connect('tcp://127.0.0.1:7700');
%     result = wiregauge.pure.measure(connection, 'Count', 50);
%     result = wiregauge.pure.figures(result);

wiregauge.internal.given(nargin, 1, 1, 'result = wiregauge.pure.figures(wiregauge.pure.measure(connection))');
wiregauge.internal.results(result);
sorted = sort(result.rtt_ns);
count = numel(sorted);
result.mean_ns = mean(sorted);
result.sd_ns = std(sorted);
result.p50_ns = sorted(ceil(0.50 * count));
result.p99_ns = sorted(ceil(0.99 * count));
result.max_ns = sorted(end);
result.max3_ns = sorted(max(1, count - 2));
result.trt_mean_ns = mean(result.trt_ns);
result.in_bytes_s = result.in * count / result.elapsed_ns * 1e9;
result.out_bytes_s = result.out * count / result.elapsed_ns * 1e9;
end
