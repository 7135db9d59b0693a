function text = replyText(lines, reply)
%REPLYTEXT  A reply as text.
%   text = wiregauge.internal.replyText(lines, reply) decodes uint8 (UTF-8) into a char row; with SCPI, a carriage return at its end is
%   dropped. lines is Device.lines.

text = native2unicode(reshape(reply, 1, []), 'UTF-8');
if strcmp(lines, 'scpi') && ~isempty(text) && text(end) == char(13)
    text(end) = [];
end
end
