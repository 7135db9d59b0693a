function names = columnNames(kind)
%COLUMNNAMES  The columns of the samples of a kind of run, as in docs/run-format.md.
%   names = wiregauge.internal.columnNames(kind) returns a cell row.

switch kind
    case 'exchange'
        names = {'sequence', 'phase', 'status', 'intended_ns', 'start_ns', 'rtt_ns', 'connect_ns', 'access_ns', 'device_rx_ticks', ...
            'device_tx_ticks', 'kernel_tx_ns', 'kernel_tx_done_ns', 'kernel_rx_ns', 'bytes_out', 'bytes_in', 'outstanding'};
    case 'stream'
        names = {'way', 'sequence', 'phase', 'status', 'submit_ns', 'complete_ns', 'urb_submit_ns', 'urb_complete_ns', 'bytes', 'pending'};
    case 'loop'
        names = {'sequence', 'phase', 'xrun', 'due_ns', 'begun_ns', 'done_ns'};
    otherwise
        wiregauge.internal.fail('wiregauge:run', ...
            'only runs of wiregauge.exchange, wiregauge.stream and wiregauge.loop can be loaded, not of kind "%s"', ...
            kind);
end
end
